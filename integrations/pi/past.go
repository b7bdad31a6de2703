package pi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/idgen"
)

// agentDir is the folder that Pi keeps its things in.
func agentDir(home string, env func(string) string) string {
	if env != nil {
		if dir := env("PI_CODING_AGENT_DIR"); dir != "" {
			if rest, ok := strings.CutPrefix(dir, "~/"); ok {
				return filepath.Join(home, rest)
			}
			return dir
		}
	}
	return filepath.Join(home, ".pi", "agent")
}

// past finds the sessions of the past, those of Pi's own folder unless another place is
// named.
func past(src integrations.Source, place integrations.Place) iter.Seq2[integrations.Session, error] {
	return func(yield func(integrations.Session, error) bool) {
		own := filepath.Join(agentDir(place.Home, place.Env), "sessions")
		if place.Env != nil {
			own = cmp.Or(place.Env("PI_CODING_AGENT_SESSION_DIR"), own)
		}
		named := ""
		if place.Path != "" {
			named = filepath.Clean(place.Path)
		}
		var found []string
		for _, pattern := range patterns(named, own) {
			paths, err := src.Glob(pattern)
			if err != nil && !yield(integrations.Session{}, err) {
				return
			}
			found = append(found, paths...)
		}
		slices.SortFunc(found, func(a, b string) int {
			return cmp.Or(cmp.Compare(filepath.Base(a), filepath.Base(b)), cmp.Compare(a, b))
		})
		for _, path := range slices.Compact(found) {
			head := header(src, path)
			if head == nil || named != "" && !wanted(named, path, head.CWD) {
				continue
			}
			s := integrations.Session{
				ID: head.ID, Files: []string{path},
				Tell: func(src integrations.Source) (integrations.Told, error) { return retold(src, path) },
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

// patterns lists where the sessions of a place may be. A folder may be that of one
// project's sessions, of all sessions, Pi's own, a home, or one that was worked in.
func patterns(named, own string) []string {
	all := []string{filepath.Join(escape(own), "*.jsonl"), filepath.Join(escape(own), "*", "*.jsonl")}
	dir := escape(named)
	switch {
	case named == "":
		return all
	case filepath.Ext(named) == ".jsonl":
		return []string{dir}
	}
	for _, below := range []string{"", "*", "sessions/*", "agent/sessions/*", ".pi/agent/sessions/*"} {
		all = append(all, filepath.Join(dir, filepath.FromSlash(below), "*.jsonl"))
	}
	return all
}

// escape makes a path a pattern of itself.
func escape(path string) string {
	var b strings.Builder
	for _, c := range path {
		if strings.ContainsRune(`*?[`, c) {
			fmt.Fprintf(&b, "[%c]", c)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// wanted reports whether a session is of the file or the folder that was named: it lies
// there, or was worked on there.
func wanted(named, path, cwd string) bool {
	below := func(path string) bool {
		return path == named || strings.HasPrefix(path, strings.TrimSuffix(named, string(filepath.Separator))+string(filepath.Separator))
	}
	return below(path) || below(cwd)
}

// header reads the first line of a session file; nil if it is none.
func header(src integrations.Source, path string) *entry {
	for raw, err := range src.Lines(path, 0) {
		if err != nil {
			return nil
		}
		if e := parseEntry(raw.Data); e != nil && e.Type == "session" && e.ID != "" {
			return e
		}
		return nil
	}
	return nil
}

// teller tells a session file as the stream would have.
type teller struct {
	told    integrations.Told
	path    string
	session string
	forked  int64 // entries before this time were copied, milliseconds
	before  int   // turns that were copied
	pace    pace
	roots   recent
	model   model
	called  []called // what an extension said since the last reply
	stop    string   // of the last reply in the open turn
	open    bool
}

// called is an entry and where it is.
type called struct {
	entry *entry
	at    int64
}

// retold tells a session. The events hold places in the file, not content.
func retold(src integrations.Source, path string) (integrations.Told, error) {
	t := &teller{path: path}
	for raw, err := range src.Lines(path, 0) {
		if gone(err) {
			break
		}
		if err != nil {
			return t.told, fmt.Errorf("pi: session: %w", err)
		}
		if e := parseEntry(raw.Data); e != nil {
			t.entry(e, raw.Offset)
		}
	}
	if len(t.told.Events) > 0 {
		t.told.Events[0].Data = t.data(&entry{}, -1, &event{})
	}
	return t.told, nil
}

// entry tells one entry.
func (t *teller) entry(e *entry, at int64) {
	switch e.Type {
	case "session":
		t.session, t.told.CWD = e.ID, e.CWD
		if e.ParentSession != "" {
			t.forked = e.at().UnixMilli()
		}
		t.tell("session_start", e, -1)
	case "model_change":
		t.model = model{e.Provider, e.Model}
	case "message", "custom_message":
		if e.Message != nil {
			t.message(e, at)
		}
	case "compaction", "branch_summary":
		if !t.copied(e) {
			t.summary(e, at)
		}
	}
}

// copied reports whether an entry is another session's, which this one was forked from.
func (t *teller) copied(e *entry) bool {
	when := e.at().UnixMilli()
	if e.Message != nil {
		when = e.Message.Timestamp
	}
	return when < t.forked
}

func (t *teller) message(e *entry, at int64) {
	m := e.Message
	begins := t.pace.begins(e)
	if t.copied(e) {
		if begins {
			t.before++
		}
		return
	}
	if m.Role == "custom" {
		t.called = append(t.called, called{e, at})
		return
	}
	t.call(begins && m.Role == "assistant")
	switch {
	case m.Role == "bashExecution":
		t.settle(e)
		t.trace(m.Timestamp, m.native())
		t.tell("user_bash", e, at)
		return
	case begins && m.Role == "user":
		t.settle(e)
		t.tell("before_agent_start", e, at)
		t.trace(m.Timestamp, m.native())
		t.open = true
	case m.Role == "assistant" && (begins || !m.empty(m.ErrorMessage != unasked)):
		if !t.open {
			t.trace(m.Timestamp, m.native()) // its prompt is not there
			t.open = true
		}
		t.stop = m.StopReason
	}
	t.tell("message_end", e, at)
}

// call tells what an extension has said: in the open turn, or to begin one.
func (t *teller) call(begins bool) {
	for i, c := range t.called {
		if begins && i == 0 {
			t.settle(c.entry)
			t.say("before_agent_start", c.entry, -1, &event{MessageType: "custom"})
		}
		if begins || t.open {
			t.tell("message_end", c.entry, c.at)
		}
	}
	t.called = nil
}

// summary tells of a compaction or the summary of a branch. Whether it was in a turn no
// entry says: it was if the turn cannot have ended before it.
func (t *teller) summary(e *entry, at int64) {
	inside := t.open && e.Type == "compaction" && (t.stop == "toolUse" || t.stop == "error" || t.stop == "length")
	if !inside {
		t.settle(e)
		t.trace(e.at().UnixMilli(), e.ID)
	}
	kind := "session_compact"
	if e.Type == "branch_summary" {
		kind = "session_tree"
	}
	t.tell(kind, e, at)
}

// settle ends the open turn.
func (t *teller) settle(e *entry) {
	if t.open && (t.stop == "stop" || t.stop == "length") {
		t.tell("agent_settled", e, -1)
	}
	t.open, t.stop = false, ""
}

func (t *teller) trace(ms int64, native string) {
	native = t.roots.unique(native)
	t.told.Traces = append(t.told.Traces, trace(ms, t.session, native))
}

func trace(ms int64, session, native string) uuid.UUID {
	return idgen.Run(milli(ms), Name, session, native, "root", native)
}

func (t *teller) tell(kind string, e *entry, at int64) { t.say(kind, e, at, &event{}) }

func (t *teller) say(kind string, e *entry, at int64, says *event) {
	t.told.Events = append(t.told.Events, integrations.Event{Kind: kind, At: e.at(), CWD: t.told.CWD, Data: t.data(e, at, says)})
}

// data is what an event holds: where the entry is, or what it says where there is none.
func (t *teller) data(e *entry, at int64, says *event) json.RawMessage {
	d := data{
		T: e.at().UnixMilli(), Session: t.session, File: t.path, Before: t.before,
		Provider: t.model.Provider, Model: t.model.Name,
	}
	if e.Timestamp == "" {
		d.T = 0
	}
	if at >= 0 {
		d.Past = &place{Path: t.path, At: at}
	} else {
		d.Event = says
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return nil // strings and numbers always encode
	}
	return raw
}
