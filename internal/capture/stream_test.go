package capture

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/journal"
)

// streaming is an agent with a shim. Its lines name a parent session at most once.
func streaming() *integrations.Agent {
	agent := toyAgent()
	agent.Stream = func() func(integrations.Payload) (integrations.Route, error) {
		parents := map[string]string{}
		return func(p integrations.Payload) (integrations.Route, error) {
			r, err := agent.Peek(p)
			var in struct{ Parent string }
			_ = json.Unmarshal(p.Body, &in)
			if in.Parent != "" {
				parents[r.Session] = in.Parent
			}
			if parent := parents[r.Session]; parent != "" {
				r.Session = parent
			}
			return r, err
		}
	}
	return agent
}

func streamLine(event, session string) string {
	return fmt.Sprintf(`{"Event":%q,"Session":%q,"CWD":"/nowhere"}`+"\n", event, session)
}

// told lists the entries of a session's journal as event names.
func told(entries []journal.Entry, session string) string {
	var names []string
	for _, e := range entries {
		if e.Session == session {
			names = append(names, e.Event)
		}
	}
	return strings.Join(names, " ")
}

func TestEachLineOfAStreamIsInTheJournalBeforeTheNextComes(t *testing.T) {
	s := newStage(t)
	s.agent = streaming()
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run(r, StreamFlag)
	}()
	for i := range 3 {
		if _, err := io.WriteString(w, streamLine("tool", "s1")); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(5 * time.Second); len(s.lines()) != i+1; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d lines after %d", len(s.lines()), i+1)
			}
		}
	}
	if len(s.spawned) != 0 {
		t.Errorf("a drainer for events that are worth none: %v", s.spawned)
	}
	_ = w.Close()
	<-done
	lines := s.lines()
	if got := told(lines, "s1"); got != "tool tool tool "+integrations.Hangup {
		t.Errorf("told %s", got)
	}
	var end integrations.Stream
	if err := json.Unmarshal(lines[3].Data, &end); err != nil || lines[3].CWD != "/nowhere" {
		t.Errorf("the end is %+v, %v", lines[3], err)
	}
	if len(s.spawned) != 1 {
		t.Errorf("drainers at the end: %v", s.spawned)
	}
	if s.out.Len() > 0 {
		t.Errorf("printed %q", s.out.String())
	}
	if d := s.drops(); len(d) != 0 {
		t.Errorf("lost %v", d)
	}
}

func TestTheEndOfAStreamIsToldToAllItsSessions(t *testing.T) {
	s := newStage(t)
	s.agent = streaming()
	var text strings.Builder
	for i := range 3 * maxWoken {
		text.WriteString(streamLine("prompt", fmt.Sprint("s", i)))
	}
	text.WriteString(`{"Event":"tool","Session":"child","Parent":"s1"}` + "\n" + streamLine("tool", "child"))
	s.send2(text.String())
	lines := s.lines()
	for i := range 3 * maxWoken {
		want := "prompt hangup"
		if i == 1 {
			want = "prompt tool tool hangup" // the second line of the child does not say whose it is
		}
		if got := told(lines, fmt.Sprint("s", i)); got != want {
			t.Errorf("session %d: %s", i, got)
		}
	}
	// One at each prompt; in the end a few look after all.
	if got := len(s.spawned); got != 4*maxWoken {
		t.Errorf("%d drainers", got)
	}
}

func (s *stage) send2(text string) {
	s.t.Helper()
	s.run(strings.NewReader(text), StreamFlag)
}

func TestALineThatIsNoEventIsCountedAndTheNextOneTaken(t *testing.T) {
	s := newStage(t)
	s.agent = streaming()
	s.send2(strings.Join([]string{
		streamLine("tool", "s1"),
		"no json, secret\n",
		"\n \r\n",
		`{"Event":"tool","Session":"s1","text":"` + strings.Repeat("x", 3<<20) + "secret\"}\n",
		streamLine("unheard", "s1"),
		`{"Event":"panic"}` + "\n",
		`{"Event":"tool"}` + "\n",
		streamLine("stop", "s1"),
		`{"Event":"tool","Session":"s1","half`, // the host was killed halfway through
	}, ""))
	if got := told(s.lines(), "s1"); got != "tool stop hangup" {
		t.Errorf("told %s", got)
	}
	want := map[string]int64{journal.DropBadInput: 3, journal.DropTooLarge: 1, journal.DropUnknown: 1, reasonPanic: 1}
	if got := s.drops(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("lost %v, want %v", got, want)
	}
	if len(s.exited) != 0 {
		t.Error("the watchdog of a single event ended the stream")
	}
}

func TestWhatAShimHadToDropIsCountedWithTheNextLine(t *testing.T) {
	s := newStage(t)
	s.agent = streaming()
	s.send2(`{"Event":"tool","Session":"s1","Lost":41}` + "\n" + streamLine("tool", "s1") + `{"Event":"tool","Session":"s1","Lost":1}` + "\n")
	if got := s.drops()[reasonPipe]; got != 42 {
		t.Errorf("counted %d", got)
	}
	if got := told(s.lines(), "s1"); got != "tool tool tool hangup" {
		t.Errorf("told %s", got)
	}
}

func TestSettingsChangeWithinAStream(t *testing.T) {
	s := newStage(t)
	s.agent = streaming()
	off := t.TempDir()
	mustWrite(t, filepath.Join(off, ".tracesmith.toml"), "enabled = false\n")
	s.send2(fmt.Sprintf(`{"Event":"tool","Session":"s1","CWD":%q}`+"\n", off) + streamLine("tool", "s2"))
	if got := told(s.lines(), "s1"); got != "" {
		t.Errorf("recorded where tracing is off: %s", got)
	}
	if got := told(s.lines(), "s2"); got != "tool hangup" {
		t.Errorf("told %s", got)
	}
}

func TestAStreamInCIDeliversItselfOnceAtItsEnd(t *testing.T) {
	s := newStage(t)
	s.agent = streaming()
	s.env["CI"] = "true"
	s.send2(streamLine("prompt", "s1") + streamLine("stop", "s1") + streamLine("prompt", "s1") + streamLine("stop", "s1"))
	if len(s.waited) != 1 || s.waited[0] <= 0 || s.waited[0] > inlineLimit {
		t.Errorf("waited %v", s.waited)
	}
}

func TestAStreamThatIsSwitchedOffEndsAtOnce(t *testing.T) {
	s := newStage(t)
	s.agent = streaming()
	s.env["TRACESMITH"] = "false"
	r, w := io.Pipe() // which nobody closes
	defer w.Close()
	s.run(r, StreamFlag)
	if _, err := os.Stat(s.dir()); err == nil {
		t.Error("state was made")
	}
}

func TestALongServersMemoryIsBounded(t *testing.T) {
	h := &hook{Config: Config{Env: func(string) string { return "" }}}
	st := &stream{hook: h}
	state, err := journal.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxKept + 10 {
		st.note(&kept{session: state.Session("toy", fmt.Sprint(i))})
	}
	st.note(&kept{session: state.Session("toy", "20")})
	keys := map[string]bool{}
	for _, k := range st.kept {
		keys[k.session.Key()] = true
	}
	newest := st.kept[len(st.kept)-1].session.Key() == state.Session("toy", "20").Key()
	if len(st.kept) != maxKept || len(keys) != maxKept || !newest || slices.Contains(sessionKeys(st), state.Session("toy", "3").Key()) {
		t.Errorf("%d kept, %d of them different", len(st.kept), len(keys))
	}
}

func sessionKeys(st *stream) []string {
	var keys []string
	for _, k := range st.kept {
		keys = append(keys, k.session.Key())
	}
	return keys
}
