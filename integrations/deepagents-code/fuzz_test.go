package deepagentscode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/sqliteread"
	"github.com/tracesmith/tracesmith/runtypes"
)

// world is a Source of a recording's database, a transcript and the events told so far.
type world struct {
	nowhere
	db         string
	transcript []byte
	told       []integrations.Event
}

func (w *world) Rows(_, query string, args ...any) iter.Seq2[integrations.Row, error] {
	return func(yield func(integrations.Row, error) bool) {
		for row, err := range sqliteread.Rows(w.db, query, args...) {
			if !yield(row, err) {
				return
			}
		}
	}
}

func (w *world) Lines(string, int64) iter.Seq2[integrations.Line, error] {
	return func(yield func(integrations.Line, error) bool) {
		for line := range bytes.Lines(w.transcript) {
			if !yield(integrations.Line{Data: bytes.TrimSuffix(line, []byte("\n"))}, nil) {
				return
			}
		}
	}
}

func (w *world) Recall(ref string) (integrations.Event, error) {
	i, err := strconv.Atoi(ref)
	if err != nil || i < 0 || i >= len(w.told) {
		return integrations.Event{}, fs.ErrNotExist
	}
	return w.told[i], nil
}

// Whatever is missing and in whatever order it comes, the reducer does not panic, posts
// no run twice, leaves none open, and gives runs that can be written.
func FuzzReducer(f *testing.F) {
	files, err := filepath.Glob("testdata/*/hooks.jsonl")
	if err != nil || len(files) == 0 {
		f.Fatalf("no recordings: %v", err)
	}
	for i, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, []byte(`{"role":"user","content":"x"}`+"\n"+`{"role":"assistant","record_id":"a","content":[{"type":"text","text":"y"}]}`+"\n"), uint16(0), uint8(i))
		f.Add(raw, []byte{}, uint16(0b101), uint8(0))
	}
	dbs, err := filepath.Glob("testdata/*/home/.deepagents/.state/sessions.db")
	if err != nil || len(dbs) == 0 {
		f.Fatalf("no databases: %v", err)
	}
	f.Fuzz(func(t *testing.T, recording, transcript []byte, drop uint16, db uint8) {
		w := &world{db: dbs[int(db)%len(dbs)], transcript: transcript}
		r := newReducer(integrations.Options{Inputs: []integrations.Inputs{"", integrations.InputsDelta, integrations.InputsThread}[int(db)%3]})
		open := map[uuid.UUID]bool{}
		apply := func(e integrations.Event) {
			ops, err := r.Apply(w, e)
			if err != nil && len(ops) == 0 {
				return
			}
			for _, op := range ops {
				pending, known := open[op.Run.ID]
				if op.Verb == runtypes.Post && known || op.Verb == runtypes.Patch && !pending {
					t.Fatalf("%s of %s, which is there: %v, open: %v", op.Verb, op.Run.Name, known, pending)
				}
				open[op.Run.ID] = op.Run.Pending()
				if _, err := json.Marshal(op.Run); err != nil {
					t.Fatal(err)
				}
			}
			state, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			r = newReducer(r.options)
			if err := json.Unmarshal(state, r); err != nil {
				t.Fatal(err)
			}
		}
		at := time.Unix(1e9, 0)
		s := bufio.NewScanner(bytes.NewReader(recording))
		s.Buffer(nil, 1<<20)
		for n := 0; s.Scan() && n < 64; n++ {
			var l struct{ Stdin json.RawMessage }
			if json.Unmarshal(s.Bytes(), &l) != nil || n < 16 && drop>>n&1 == 1 {
				continue
			}
			p := integrations.Payload{Body: l.Stdin}
			route, err := peek(p)
			if err != nil {
				continue
			}
			kept, err := project(p)
			if err != nil {
				continue
			}
			at = at.Add(time.Second)
			e := integrations.Event{Kind: route.Event, At: at, Data: kept, Ref: strconv.Itoa(len(w.told))}
			w.told = append(w.told, e)
			apply(e)
		}
		apply(integrations.Event{Kind: integrations.Dead})
		for id, pending := range open {
			if pending {
				t.Fatalf("%s is left open", id)
			}
		}
		if s := r.Status(); s.Open != 0 {
			t.Fatalf("status %+v", s)
		}
	})
}

// Project keeps valid JSON whatever the payload.
func FuzzProject(f *testing.F) {
	f.Add([]byte(promptedBody))
	f.Add([]byte(`{"session_id":"s","hook_event_name":"PostToolUse","tool_response":"\ud800","tool_input":"x","duration_ms":1e300}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p := integrations.Payload{Body: body}
		if _, err := peek(p); err != nil {
			return
		}
		kept, err := project(p)
		if err == nil && !json.Valid(kept) {
			t.Fatalf("kept %q", kept)
		}
	})
}

// Whatever a value of the database holds, what is made of it is JSON, and messages are
// read from it without a panic.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{0x93, 0xa1, 'm', 0xa1, 'c', 0x80})
	f.Add([]byte{0x91, 0xc7, 6, 5, 0x93, 0xa1, 'm', 0xa1, 'c', 0x80})
	f.Add([]byte{0xdf, 0, 0, 0, 1, 0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc3})
	f.Fuzz(func(t *testing.T, packed []byte) {
		out, err := unpack(packed)
		if err != nil {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("made %q of %x", out, packed)
		}
		w := &write{value: out}
		for _, n := range w.notes() {
			n.answer()
			n.result()
			n.usage()
		}
	})
}
