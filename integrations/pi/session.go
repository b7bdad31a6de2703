package pi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// entry is one line of a session file.
type entry struct {
	Type      string   `json:"type"`
	ID        string   `json:"id"`
	Parent    string   `json:"parentId"`
	Timestamp string   `json:"timestamp"`
	Message   *message `json:"message"`

	// Of what an extension said.
	Content json.RawMessage `json:"content"`

	// Of the header.
	CWD           string `json:"cwd"`
	ParentSession string `json:"parentSession"`

	// Of a change of the model.
	Provider string `json:"provider"`
	Model    string `json:"modelId"`

	// Of a compaction and of the summary of a branch.
	Summary      string `json:"summary"`
	FirstKept    string `json:"firstKeptEntryId"`
	TokensBefore int64  `json:"tokensBefore"`
	Usage        *usage `json:"usage"`
}

// parseEntry reads a line; nil if it is none.
func parseEntry(raw []byte) *entry {
	var e entry
	if json.Unmarshal(raw, &e) != nil {
		return nil
	}
	if e.Type == "custom_message" {
		e.Message = &message{Role: "custom", Content: e.Content, Timestamp: e.at().UnixMilli()}
	}
	return &e
}

// at is when the entry was written.
func (e *entry) at() time.Time {
	c := compaction{Timestamp: e.Timestamp}
	return c.made()
}

// event is what the stream says of what the entry records.
func (e *entry) event() *event {
	c := &compaction{ID: e.ID, Timestamp: e.Timestamp, Summary: e.Summary, TokensBefore: e.TokensBefore, Usage: e.Usage}
	switch e.Type {
	case "compaction":
		return &event{Compaction: c}
	case "branch_summary":
		return &event{Summary: c}
	}
	return &event{Message: e.Message}
}

// entryAt reads one line of a session file.
func entryAt(src integrations.Source, p place) (*entry, error) {
	for raw, err := range src.Lines(p.Path, p.At) {
		if err != nil {
			return nil, fmt.Errorf("pi: session: %w", err)
		}
		if e := parseEntry(raw.Data); raw.Offset == p.At && e != nil {
			return e, nil
		}
		break
	}
	return nil, fmt.Errorf("pi: session: %w", fs.ErrNotExist)
}

// pace tells prompts from what was queued while the agent was at work: a queued message
// is older than what was said before it, and was written down after that. What an
// extension queued is written down at once when the agent has had its say.
type pace struct {
	last   int64
	busy   bool // the agent has not had the last word
	called bool // an extension has spoken to it since
}

// atOnce is how long Pi takes at most to write down what was queued, in milliseconds.
const atOnce = 250

// begins reports whether an entry with a message begins a turn. It is asked about each of
// them in its order. A turn that an extension asked for begins with the reply: only of
// that the stream and the session file have the same time.
func (p *pace) begins(e *entry) bool {
	switch m := e.Message; m.Role {
	case "user":
		p.busy, p.called = true, false
		if written := e.at(); !written.IsZero() && written.UnixMilli() < p.last {
			p.last = m.Timestamp // the clock was put back
		}
		return m.Timestamp >= p.last
	case "bashExecution":
		return true
	case "custom":
		p.called = p.called || !p.busy && m.Timestamp-p.last > atOnce
	case "assistant":
		called := p.called
		p.busy, p.called = m.StopReason == "toolUse" || m.StopReason == "error", false
		p.last = max(p.last, m.Timestamp+int64(m.Duration))
		return called
	case "toolResult":
		p.busy = true
		p.last = max(p.last, m.Timestamp)
	}
	return false
}

// recent holds the last names that were given to turns. They are times, of which two may
// be the same.
type recent []string

// maxRecent bounds the names that are remembered.
const maxRecent = 64

// unique returns a name that was not given lately.
func (r *recent) unique(native string) string {
	name := native
	for n := 2; slices.Contains(*r, name); n++ {
		name = fmt.Sprintf("%s#%d", native, n)
	}
	*r = append(*r, name)
	if len(*r) > maxRecent {
		*r = slices.Delete(*r, 0, len(*r)-maxRecent)
	}
	return name
}

// number is the turn's place in its thread. The session file counts the turns before,
// also those that were never streamed.
func (h *hearing) number(start time.Time, past bool) int {
	n := h.r.Count
	if !past {
		n = max(n, h.turnsBefore(start.UnixMilli()))
	}
	h.r.Count = n + 1
	return n + 1
}

// sessionFile is the session's file: where Pi said it was or, since a home may be seen
// under another path than Pi saw it, in the sessions of a folder above.
func (h *hearing) sessionFile() string {
	path := h.a.File
	for _, err := range h.src.Lines(path, 0) {
		if !gone(err) {
			return path
		}
		break
	}
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		found, err := h.src.Glob(filepath.Join(escape(dir), ".pi", "agent", "sessions", "*", escape(filepath.Base(path))))
		if err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return path
}

// turnsBefore counts the turns in the session file that began before a time: those that
// come before the message of that time, or are older.
func (h *hearing) turnsBefore(ms int64) int {
	if h.a.File == "" {
		return 0
	}
	n := 0
	var p pace
	for raw, err := range h.src.Lines(h.sessionFile(), 0) {
		if err != nil {
			break // not written yet, or gone: what was counted so far stands
		}
		if !bytes.Contains(raw.Data, []byte(`message"`)) {
			continue
		}
		e := parseEntry(raw.Data)
		if e == nil || e.Message == nil || !p.begins(e) {
			continue
		}
		if e.Message.Timestamp == ms {
			break
		}
		if e.Message.Timestamp < ms {
			n++
		}
	}
	return n
}

// step is an entry's place in the tree of a session.
type step struct {
	parent string
	at     int64
	time   int64 // of its message
	user   bool
}

// before is what was said in the thread before a turn, on its branch and since the last
// compaction.
func (h *hearing) before(t *turn) []runtypes.Message {
	if h.a.File == "" {
		return nil
	}
	path := h.sessionFile()
	steps := map[string]step{}
	from := ""
	for raw, err := range h.src.Lines(path, 0) {
		if err != nil {
			return nil
		}
		e := parseEntry(raw.Data)
		if e == nil || e.ID == "" {
			continue
		}
		s := step{parent: e.Parent, at: raw.Offset}
		if e.Message != nil {
			s.time, s.user = e.Message.Timestamp, e.Message.Role == "user"
		}
		steps[e.ID] = s
		if s.user && s.time == t.Start.UnixMilli() {
			from = e.Parent
		}
	}
	var list []runtypes.Message
	until := ""
	for id := from; id != ""; {
		s, ok := steps[id]
		if !ok {
			break
		}
		delete(steps, id) // a file may say that an entry is its own ancestor
		e, err := entryAt(h.src, place{path, s.at})
		if err != nil {
			break
		}
		if e.Type == "compaction" && until == "" {
			list = append(list, runtypes.Message{Role: "user", Content: e.Summary})
			if until = e.FirstKept; until == "" || until == e.ID {
				break
			}
		} else if m := e.Message; m != nil && m.Role != "system" && m.Role != "custom" && (m.Role != "assistant" || m.used()) {
			list = append(list, m.render())
		}
		if id == until {
			break
		}
		id = s.parent
	}
	slices.Reverse(list)
	return list
}

// gone reports whether a file is not there.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
