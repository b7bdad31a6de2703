package cursor

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

// Whatever order events come in and whatever is missing, the reducer neither panics nor
// loops, posts no run twice, leaves none open, and gives runs that can be written.
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
		f.Add(raw, transcript("user:x", "said:y", "end:z"), uint16(0), i%2 == 0)
		f.Add(raw, "", uint16(0b1011), i%2 == 1)
	}
	f.Fuzz(func(t *testing.T, recording []byte, file string, drop uint16, cut bool) {
		w := newWorld(t)
		w.cut = cut
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
			var d data
			if err := json.Unmarshal(kept, &d); err != nil {
				t.Fatal(err)
			}
			w.files[d.Transcript] = file
			w.at = w.at.Add(time.Second)
			w.tell(integrations.Event{Kind: route.Event, At: w.at, Data: kept})
			if n%7 == 3 {
				w.own(integrations.Grew)
			}
		}
		w.own(integrations.Dead)
		w.own(integrations.Idle)
		for _, run := range w.runs {
			if run.Pending() {
				t.Fatalf("%s is left open", run.Name)
			}
		}
		if s := w.r.Status(); s.Open != 0 {
			state, _ := json.Marshal(w.r)
			t.Fatalf("status %+v of %s", s, state)
		}
	})
}

// Project keeps valid JSON whatever the payload.
func FuzzProject(f *testing.F) {
	f.Add([]byte(prompted))
	f.Add([]byte(`{"conversation_id":"c","hook_event_name":"postToolUse","tool_output":"{\"a\":\"\\ud800\"}","tool_input":"x","duration":1e3}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p := integrations.Payload{Body: body}
		claims(p)
		if _, err := peek(p); err != nil {
			return
		}
		kept, err := project(p)
		if err == nil && !json.Valid(kept) {
			t.Fatalf("kept %q", kept)
		}
	})
}

// A transcript may hold anything.
func FuzzSections(f *testing.F) {
	f.Add(transcript("user:x", "said:y", "end:z"), "MCP:a")
	f.Add(`{"role":"assistant","message":{"content":7}}`+"\n"+`{"type":"turn_ended","error":{"message":"m"}}`+"\n", "Shell")
	f.Fuzz(func(t *testing.T, text, tool string) {
		w := newWorld(t)
		w.files[file] = text
		list, err := sections(w, file)
		if err != nil {
			t.Fatal(err)
		}
		story := &story{}
		story.add(integrations.Event{Kind: "preToolUse"}, &data{Tool: tool}, "")
		for _, s := range list {
			story.attach(s)
		}
		messages(list, len(list))
		if s := pick(list, 0, "", []string{tool}, nil, false); s != nil && !s.calls([]string{tool}) {
			t.Fatal("a section that has no such tool")
		}
	})
}
