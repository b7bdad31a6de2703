package relay

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Rules are what the user's settings say of the turns in a folder.
type Rules struct {
	Off    bool // nothing is traced there
	Policy journal.Policy
	Origin string // URL of the remote of the repository there; empty: not known
}

// intake writes what clients send to the turns' journals.
type intake struct {
	state *journal.State
	index *index
	rules func(dir string) Rules
	now   func() time.Time

	mu      sync.Mutex
	foreign map[string]bool // traces whose roots were others'
}

// maxForeign bounds the traces of others that are remembered.
const maxForeign = 4096

// noteForeign remembers the traces of roots that are not ours.
func (in *intake) noteForeign(ops []operation) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, op := range ops {
		if op.wire.ParentRunID != "" || in.foreign[op.wire.TraceID] {
			continue
		}
		if in.foreign == nil || len(in.foreign) >= maxForeign {
			in.foreign = map[string]bool{}
		}
		in.foreign[op.wire.TraceID] = true
	}
}

// isForeign reports whether a trace is known not to be ours.
func (in *intake) isForeign(trace string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.foreign[trace]
}

// operation is one write of a request.
type operation struct {
	verb runtypes.Verb
	wire runtypes.Wire
}

// sorted is a request's writes by whose they are.
type sorted struct {
	ours   []operation
	lost   []operation // ours, and cannot be kept
	unsure []operation // cannot be kept, and do not say whose they are
	others int
	open   bool // of some that cannot be told yet: a run of a graph whose trace nobody knows
	known  map[string]bool
}

// sort tells the runs of Deep Agents Code from others: by what they say of themselves,
// or by their trace.
func (in *intake) sort(writes ingest.Writes) sorted {
	s := sorted{known: map[string]bool{}}
	all := make([]operation, 0, len(writes.Posts)+len(writes.Patches))
	for _, w := range writes.Posts {
		all = append(all, operation{runtypes.Post, w})
	}
	for _, w := range writes.Patches {
		all = append(all, operation{runtypes.Patch, w})
	}
	for _, op := range all { // a root may stand behind its children
		if claims(op.wire) {
			s.known[op.wire.TraceID] = true
		} else if _, known := in.index.find(op.wire.TraceID); known {
			s.known[op.wire.TraceID] = true
		}
	}
	var others []operation
	for _, op := range all {
		if s.known[op.wire.TraceID] {
			s.ours = append(s.ours, op)
		} else {
			others = append(others, op)
		}
	}
	s.others = len(others)
	in.noteForeign(others)
	s.open = slices.ContainsFunc(others, func(op operation) bool {
		return !in.isForeign(op.wire.TraceID) && text(op.wire.Metadata(), "langgraph_node") != ""
	})
	in.sortRefused(&s, writes.Refused)
	return s
}

// sortRefused tells whose the writes are that cannot be read.
func (in *intake) sortRefused(s *sorted, refused []ingest.Refused) {
	for _, each := range refused {
		op := operation{each.Verb, each.Run}
		_, known := in.index.find(op.wire.TraceID)
		switch {
		case known, s.known[op.wire.TraceID], claims(op.wire):
			s.lost = append(s.lost, op)
		case op.wire.TraceID == "":
			s.unsure = append(s.unsure, op)
		default:
			s.others++
		}
	}
}

// arrange puts the writes of a turn that goes on before those of one that begins, which
// would end it, and those of each trace together.
func (in *intake) arrange(ops []operation) []operation {
	ops = slices.Clone(ops)
	begins := func(op operation) string {
		order, _, _ := strings.Cut(op.wire.DottedOrder, ".")
		if _, known := in.index.find(op.wire.TraceID); known {
			return "0" + order
		}
		return "1" + order
	}
	slices.SortStableFunc(ops, func(a, b operation) int { return strings.Compare(begins(a), begins(b)) })
	return ops
}

// claims reports whether a run says that it is Deep Agents Code's. A model call, and a
// note in a thread's state, go by a library's name, and yet by the agent's runtime and turn.
func claims(w runtypes.Wire) bool {
	meta := w.Metadata()
	return text(meta, "ls_integration") == Integration || aside(w) ||
		(w.RunType == "llm" || isNote(w)) && strings.HasPrefix(text(meta, "ls_agent_runtime"), runtimeName) && text(meta, "turn_id") != ""
}

// keep writes operations to their turns' journals and returns the keys of these. When
// it returns without an error they are on disk. One for which a journal has no room is
// written without what was said in it, or lost and counted: it would be every time.
func (in *intake) keep(ops []operation, proc journal.Proc) (keys []string, err error) {
	touched := map[string]*journal.Session{}
	write := func(p place, e journal.Entry) error {
		session := in.state.Session(Name, p.session())
		if touched[session.Key()] == nil {
			touched[session.Key()] = session
			keys = append(keys, session.Key())
		}
		return session.Append(e)
	}
	lost := func(err error) error {
		if reason := noRoom(err); reason != "" {
			return in.state.Drop(reason, 1)
		}
		return err
	}
	said := tellMost(ops)
	for _, op := range in.arrange(ops) {
		meta := said[op.wire.TraceID]
		entry := journal.Entry{At: in.now(), Proc: proc, Head: integrations.Head{Branch: text(meta, "git_branch"), SHA: text(meta, "git_commit_sha")}}
		leave := func(before place) error {
			next := entry
			next.Event, next.Session, next.CWD, next.Policy = lineNext, before.session(), before.Dir, in.rules(before.Dir).Policy
			return lost(write(before, next))
		}
		if aside(op.wire) {
			leave = nil
		}
		p, err := in.index.enter(place{
			Trace: op.wire.TraceID, Thread: text(meta, "thread_id"), Turn: text(meta, "turn_id"), Dir: dirOf(meta), Number: number(meta),
		}, leave)
		if errors.Is(err, errLongName) {
			if err := in.state.Drop(journal.DropTooLarge, 1); err != nil {
				return keys, err
			}
			continue
		}
		if err != nil {
			return keys, err
		}
		entry.Event, entry.Session, entry.CWD = string(op.verb), p.session(), cmp.Or(p.Dir, dirOf(meta))
		rules := in.rules(entry.CWD)
		if rules.Off {
			continue
		}
		entry.Policy = rules.Policy
		m := message{Number: p.Number, Thread: p.Thread, Run: op.wire, Origin: rules.Origin}
		if p.Turn != p.Trace { // else it has no name
			m.Turn = p.Turn
		}
		if leftOut(op.wire) {
			m.Run.Inputs, m.Run.Outputs, m.Run.Events = nil, nil, nil
		}
		put := func() (err error) {
			if entry.Data, err = line(m, rules.Policy); err != nil {
				return in.state.Drop(journal.DropRedaction, 1) // what cannot be vouched for is not written anywhere
			}
			return write(p, entry)
		}
		err = put()
		if noRoom(err) != "" {
			m.Run = bare(m.Run)
			if err = put(); err == nil {
				err = in.state.Drop(journal.Shortened, 1)
			}
		}
		if err := lost(err); err != nil {
			return keys, err
		}
	}
	for _, session := range touched {
		if err := flush(session.Dir()); err != nil {
			return keys, err
		}
	}
	return keys, nil
}

// tellMost finds, for each trace, the metadata of the run that says best whose turn it is:
// not every run below a root need have been given it.
func tellMost(ops []operation) map[string]map[string]any {
	said := map[string]map[string]any{}
	rank := func(meta map[string]any) (n int) {
		for _, key := range []string{"turn_id", "thread_id", "cwd", "git_commit_sha"} {
			if n <<= 1; text(meta, key) != "" {
				n++
			}
		}
		return n
	}
	for _, op := range ops {
		meta, before := op.wire.Metadata(), said[op.wire.TraceID]
		if before == nil || rank(meta) > rank(before) {
			said[op.wire.TraceID] = meta
		}
	}
	return said
}

func dirOf(meta map[string]any) string {
	return cmp.Or(text(meta, "cwd"), text(meta, "working_directory"))
}

// leftOut reports whether a run will not be seen, nor what was said in it: of these there
// are several around each call of a model, and each holds the whole conversation.
func leftOut(w runtypes.Wire) bool {
	return isNote(w) || w.ParentRunID != "" && w.RunType == "chain" && machinery(w)
}

// noRoom is the reason of a loss for want of room; empty: err is none.
func noRoom(err error) string {
	switch {
	case errors.Is(err, journal.ErrTooLong):
		return journal.DropTooLarge
	case errors.Is(err, journal.ErrFull):
		return journal.DropFull
	}
	return ""
}

// bare is a write without what was said in it: that it began or ended, how, and what it cost.
func bare(w runtypes.Wire) runtypes.Wire {
	_, cost := findUsage(w)
	w.Events = nil
	for name, field := range map[string]*json.RawMessage{"inputs": &w.Inputs, "outputs": &w.Outputs} {
		if len(*field) == 0 {
			continue
		}
		mark := map[string]any{"tracesmith_shortened": fmt.Sprintf("%s of %d bytes left out: too large for the journal", name, len(*field))}
		if name == "outputs" && cost != nil {
			mark["usage_metadata"] = cost
		}
		*field, _ = json.Marshal(mark) // of text and of what was JSON
	}
	return w
}

// line is a message without the plainest secrets: it lies on the disk for a while.
func line(m message, policy journal.Policy) (json.RawMessage, error) {
	raw, err := runtypes.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("relay: line: %w", err)
	}
	if policy.Plain {
		return raw, nil
	}
	clean, err := redact.Fast(raw)
	if err != nil {
		return nil, fmt.Errorf("relay: line: %w", err)
	}
	return clean, nil
}

// number is the turn's number as the agent counts; 0: it does not say.
func number(meta map[string]any) int {
	n, ok := meta["turn_number"].(json.Number)
	if !ok {
		return 0
	}
	i, err := n.Int64()
	if err != nil || i < 0 || i > math.MaxInt32 {
		return 0
	}
	return int(i)
}

// flush waits until a session's journals are on the disk: what is answered with 202 the
// client forgets.
func flush(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("relay: flush: %w", err)
	}
	for _, each := range entries {
		if !strings.HasPrefix(each.Name(), "journal.") {
			continue
		}
		f, err := os.OpenFile(filepath.Join(dir, each.Name()), os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("relay: flush: %w", err)
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("relay: flush: %w", err)
		}
	}
	return nil
}
