package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a hook's surroundings: a state directory, a home, an environment, and
// a drainer that only notes that it was called.
type stage struct {
	t       *testing.T
	env     map[string]string
	agent   *integrations.Agent
	all     []*integrations.Agent
	out     bytes.Buffer
	spawned []string
	waited  []time.Duration
	exited  chan int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir := t.TempDir()
	return &stage{
		t: t,
		env: map[string]string{
			"TRACESMITH_STATE": filepath.Join(dir, "state"),
			"HOME":             dir, "USERPROFILE": dir,
			"XDG_CONFIG_HOME": filepath.Join(dir, "config"),
		},
		agent:  toyAgent(),
		exited: make(chan int, 1),
	}
}

// toyAgent reads its payload literally.
func toyAgent() *integrations.Agent {
	return &integrations.Agent{
		Name: "toy",
		Hooks: []integrations.Hook{
			{Event: "tool"},
			{Event: "prompt", Wakes: true},
			{Event: "stop", Wakes: true, Settles: true, Timeout: 10 * time.Second},
			{Event: "fail", Wakes: true, Settles: true, Shield: true},
		},
		Peek: func(p integrations.Payload) (r integrations.Route, err error) {
			if bytes.Contains(p.Body, []byte("panic")) {
				panic("secret words")
			}
			err = json.Unmarshal(p.Body, &r)
			return r, err
		},
		Project: func(p integrations.Payload) (json.RawMessage, error) { return p.Body, nil },
	}
}

func (s *stage) run(stdin io.Reader, args ...string) {
	s.t.Helper()
	Run(Config{
		Args:   append([]string{"toy"}, args...),
		Env:    func(key string) string { return s.env[key] },
		Stdin:  stdin,
		Stdout: &s.out,
		All:    func() []*integrations.Agent { return s.all },
		Find:   func(name string) (*integrations.Agent, bool) { return s.agent, s.agent != nil && name == s.agent.Name },
		Spawn: func(dir, session string) error {
			s.spawned = append(s.spawned, session)
			return nil
		},
		Deliver: func(_ string, limit time.Duration) error {
			s.waited = append(s.waited, limit)
			return nil
		},
		MaxInput: 1 << 20,
		Exit:     func(code int) { s.exited <- code },
	})
}

func (s *stage) send(text string) {
	s.t.Helper()
	s.run(strings.NewReader(text))
}

func (s *stage) dir() string { return filepath.Join(s.env["TRACESMITH_STATE"], "tracesmith", "v1") }

// lines returns what the journals of all sessions hold.
func (s *stage) lines() []journal.Entry {
	s.t.Helper()
	files, _ := filepath.Glob(filepath.Join(s.dir(), "sessions", "*", "*", "journal*.jsonl"))
	var all []journal.Entry
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var e journal.Entry
			if err := json.Unmarshal(line, &e); err != nil {
				s.t.Fatal(err)
			}
			all = append(all, e)
		}
	}
	return all
}

// drops returns what was counted, and checks that the log has a line for each.
func (s *stage) drops() map[string]int64 {
	s.t.Helper()
	state, err := journal.Open(s.dir())
	if err != nil {
		s.t.Fatal(err)
	}
	drops, err := state.Drops()
	if err != nil {
		s.t.Fatal(err)
	}
	log, _ := os.ReadFile(filepath.Join(s.dir(), "log", "tracesmith.jsonl"))
	if n := bytes.Count(log, []byte("\n")); n != len(drops) {
		s.t.Errorf("%d lines in the log for %v: %s", n, drops, log)
	}
	if bytes.Contains(log, []byte("secret")) {
		s.t.Errorf("content in the log: %s", log)
	}
	return drops
}

const prompt = `{"Event":"prompt","Session":"s1","CWD":"/nowhere","PID":0,"text":"secret"}`

func TestAnEventBecomesOneLine(t *testing.T) {
	s := newStage(t)
	cwd := t.TempDir()
	sha := strings.Repeat("a", 40)
	mustWrite(t, filepath.Join(cwd, ".git", "HEAD"), "ref: refs/heads/topic\n")
	mustWrite(t, filepath.Join(cwd, ".git", "refs", "heads", "topic"), sha+"\n")
	body, _ := json.Marshal(map[string]any{"Event": "prompt", "Session": "s1", "CWD": cwd, "PID": os.Getpid()})
	before := time.Now()
	s.run(bytes.NewReader(append([]byte("\xef\xbb\xbf"), body...)))
	lines := s.lines()
	if len(lines) != 1 {
		t.Fatalf("%d lines", len(lines))
	}
	e := lines[0]
	if e.Event != "prompt" || e.Session != "s1" || e.CWD != cwd || e.Head != (integrations.Head{Branch: "topic", SHA: sha}) {
		t.Errorf("entry %+v", e)
	}
	if e.At.Before(before.Add(-time.Second)) || e.Proc.PID != os.Getpid() || e.ID == "" {
		t.Errorf("entry %+v", e)
	}
	if s.out.Len() > 0 {
		t.Errorf("printed %q", s.out.String())
	}
	if len(s.spawned) != 1 || !strings.HasPrefix(s.spawned[0], "toy/") || len(s.drops()) > 0 {
		t.Errorf("spawned %q, drops %v", s.spawned, s.drops())
	}
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAnEventInTheArgumentsNeedsNoInput(t *testing.T) {
	s := newStage(t)
	s.run(broken{}, "--flag", prompt)
	if n := len(s.lines()); n != 1 {
		t.Errorf("%d lines", n)
	}
}

// broken is a standard input that the agent closed.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("bad file descriptor") }

func TestWhatCannotBeTakenIsCountedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		stdin  io.Reader
		reason string
	}{
		"no input":      {strings.NewReader(" \n"), reasonNoInput},
		"closed input":  {broken{}, reasonNoInput},
		"bad JSON":      {strings.NewReader(`{"Event":"secret`), journal.DropBadInput},
		"wrong shape":   {strings.NewReader(`{"Event":["secret"]}`), journal.DropBadInput},
		"no session":    {strings.NewReader(`{"Event":"prompt"}`), journal.DropBadInput},
		"unknown event": {strings.NewReader(`{"Event":"secret","Session":"s"}`), journal.DropUnknown},
		"huge":          {io.LimitReader(zeros{}, 3<<20), journal.DropTooLarge},
		"long session":  {strings.NewReader(`{"Event":"prompt","Session":"` + strings.Repeat("s", maxSession+1) + `"}`), journal.DropTooLarge},
		"panic":         {strings.NewReader(`{"panic":1}`), reasonPanic},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.run(c.stdin)
			if got := s.drops(); !maps.Equal(got, map[string]int64{c.reason: 1}) {
				t.Errorf("counted %v, want one %s", got, c.reason)
			}
			if len(s.lines()) > 0 || len(s.spawned) > 0 || s.out.Len() > 0 {
				t.Errorf("lines %v, spawned %q, printed %q", s.lines(), s.spawned, s.out.String())
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestAnUnknownAgentIsCounted(t *testing.T) {
	s := newStage(t)
	s.agent = nil
	s.send(prompt)
	if got := s.drops(); !maps.Equal(got, map[string]int64{reasonAgent: 1}) {
		t.Errorf("counted %v", got)
	}
}

func TestSwitchedOffNothingIsTouched(t *testing.T) {
	s := newStage(t)
	s.agent.Reply = []byte("{}")
	s.env["TRACESMITH"] = "0"
	s.run(broken{})
	if _, err := os.Lstat(s.env["TRACESMITH_STATE"]); err == nil || s.out.String() != "{}" {
		t.Errorf("a state directory was made, or the reply is %q", s.out.String())
	}
	delete(s.env, "TRACESMITH")
	mustWrite(t, filepath.Join(s.env["XDG_CONFIG_HOME"], "tracesmith", "config.toml"), "enabled = false\n")
	s.send(prompt)
	if _, err := os.Lstat(s.env["TRACESMITH_STATE"]); err == nil {
		t.Error("a state directory was made")
	}
}

func TestABrokenConfigLosesNothing(t *testing.T) {
	s := newStage(t)
	mustWrite(t, filepath.Join(s.env["XDG_CONFIG_HOME"], "tracesmith", "config.toml"), "api_key = 'secret\n")
	s.send(prompt)
	if got := s.drops(); len(s.lines()) != 1 || len(s.spawned) != 1 || !maps.Equal(got, map[string]int64{reasonConfig: 1}) {
		t.Errorf("lines %v, spawned %q, counted %v", s.lines(), s.spawned, got)
	}
}

func TestAStateThatCannotBeWrittenIsNoError(t *testing.T) {
	s := newStage(t)
	mustWrite(t, s.env["TRACESMITH_STATE"], "a file where the directory should be")
	s.send(prompt)
	if s.out.Len() > 0 || len(s.spawned) > 0 {
		t.Errorf("printed %q, spawned %q", s.out.String(), s.spawned)
	}
}

func TestTheReplyIsPrintedWhateverHappens(t *testing.T) {
	for _, text := range []string{prompt, "", "{", `{"panic":1}`} {
		s := newStage(t)
		s.agent.Reply = []byte("{}\n")
		s.send(text)
		if s.out.String() != "{}\n" {
			t.Errorf("%q: printed %q", text, s.out.String())
		}
	}
}

func TestAnInputThatNeverEndsIsGivenUp(t *testing.T) {
	s := newStage(t)
	s.agent.Reply = []byte("{}\n")
	in, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run(in)
	}()
	if code := <-s.exited; code != 0 {
		t.Errorf("exit code %d", code)
	}
	state, err := journal.Open(s.dir())
	if err != nil {
		t.Fatal(err)
	}
	if drops, _ := state.Drops(); drops[reasonTimeout] != 1 {
		t.Errorf("counted %v", drops)
	}
	out.Close() // a real process would be gone
	<-done
	if s.out.String() != "{}\n" {
		t.Errorf("printed %q", s.out.String())
	}
}

func TestSecretsDoNotReachTheDisk(t *testing.T) {
	s := newStage(t)
	token := "ghp_" + strings.Repeat("a1B2", 9)
	s.send(`{"Event":"prompt","Session":"s1","text":"use ` + token + `"}`)
	lines := s.lines()
	if len(lines) != 1 || bytes.Contains(lines[0].Data, []byte(token)) {
		t.Errorf("journal: %+v", lines)
	}
}

func TestAnEventThatTellsNothingNewIsNeitherKeptNorLost(t *testing.T) {
	s := newStage(t)
	s.agent.Peek = func(integrations.Payload) (integrations.Route, error) {
		return integrations.Route{}, integrations.ErrIdle
	}
	s.send(event("prompt"))
	state, err := journal.Open(s.dir())
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := state.Sessions()
	if drops, _ := state.Drops(); err != nil || len(sessions) > 0 || len(drops) > 0 {
		t.Errorf("%d sessions, lost %v, %v", len(sessions), drops, err)
	}
}

func TestThePayloadDecidesWhoseEventItIs(t *testing.T) {
	s := newStage(t)
	other := toyAgent()
	other.Name = "other"
	other.Claims = func(p integrations.Payload) bool { return bytes.Contains(p.Body, []byte("other_version")) }
	peek := s.agent.Peek
	s.agent.Peek = func(p integrations.Payload) (integrations.Route, error) {
		if bytes.Contains(p.Body, []byte("other_version")) {
			return integrations.Route{}, integrations.ErrForeign
		}
		return peek(p)
	}
	state, err := journal.Open(s.dir())
	if err != nil {
		t.Fatal(err)
	}
	const theirs = `{"Event":"prompt","Session":"s1","CWD":"/nowhere","other_version":"1"}`
	s.send(theirs)
	if drops, _ := state.Drops(); drops[reasonForeign] != 1 || len(s.lines()) > 0 {
		t.Errorf("taken for its own: %v", drops)
	}
	s.all = []*integrations.Agent{s.agent, other}
	s.send(theirs)
	sessions, err := state.Sessions()
	if err != nil || len(sessions) != 1 || sessions[0].Agent() != "other" {
		t.Errorf("%d sessions, %v", len(sessions), err)
	}
	s.send(event("prompt"))
	if len(s.lines()) != 2 {
		t.Error("its own event was not taken")
	}
}
