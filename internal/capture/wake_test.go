package capture

import (
	"slices"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/journal"
)

func event(name string) string {
	return `{"Event":"` + name + `","Session":"s1","CWD":"/nowhere"}`
}

func TestOnlyAnEventWorthItWakesTheDrainer(t *testing.T) {
	s := newStage(t)
	s.send(event("tool"))
	if len(s.spawned) > 0 {
		t.Error("a tool's start woke the drainer")
	}
	s.send(event("prompt"))
	s.send(event("stop"))
	s.send(event("fail"))
	if len(s.spawned) != 3 || len(s.waited) > 0 {
		t.Errorf("spawned %q, waited %v", s.spawned, s.waited)
	}
}

func TestADrainerAtWorkIsLeftAlone(t *testing.T) {
	s := newStage(t)
	s.send(event("tool"))
	state, err := journal.Open(s.dir())
	if err != nil {
		t.Fatal(err)
	}
	lock, err := state.Session("toy", "s1").TryDrain()
	if err != nil {
		t.Fatal(err)
	}
	s.send(event("prompt"))
	if len(s.spawned) > 0 {
		t.Error("a second drainer was started")
	}
	lock.Unlock()
	s.send(event("prompt"))
	if len(s.spawned) != 1 {
		t.Error("no drainer was started once the first had gone")
	}
}

func TestDestinationsThatRestAreNotWoken(t *testing.T) {
	s := newStage(t)
	state, err := journal.Open(s.dir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(notBefore time.Time) {
		t.Helper()
		if _, err := state.UpdateDestination("d", func(d *journal.Destination) { d.NotBefore = notBefore }); err != nil {
			t.Fatal(err)
		}
	}
	put(time.Now().Add(10 * time.Minute))
	s.send(event("prompt"))
	if len(s.spawned) > 0 {
		t.Error("woken during the backoff")
	}
	put(time.Now().Add(-time.Hour))
	s.send(event("prompt"))
	if len(s.spawned) != 1 {
		t.Error("not woken after the backoff")
	}
}

func TestWithNowhereToGoNothingIsWoken(t *testing.T) {
	s := newStage(t)
	s.env["TRACESMITH_STORE"] = "off"
	s.send(event("prompt"))
	s.env["TRACESMITH_API_KEY"] = "key"
	s.env["TRACESMITH_UPLOAD"] = "off"
	s.send(event("prompt"))
	if len(s.spawned) > 0 {
		t.Errorf("spawned %q", s.spawned)
	}
	s.env["TRACESMITH_UPLOAD"] = "detached"
	s.send(event("prompt"))
	if len(s.spawned) != 1 {
		t.Error("not woken though there is a key")
	}
}

func TestInlineTheHookThatEndsATurnWaits(t *testing.T) {
	check := func(env map[string]string, spawned int, waited ...time.Duration) {
		t.Helper()
		s := newStage(t)
		for k, v := range env {
			s.env[k] = v
		}
		for _, name := range []string{"prompt", "tool", "stop", "fail"} {
			s.send(event(name))
		}
		if len(s.spawned) != spawned || !slices.Equal(s.waited, waited) {
			t.Errorf("%v: spawned %q, waited %v", env, s.spawned, s.waited)
		}
	}
	// Stop waits for its timeout less 2 s; the hook that is killed does not wait.
	check(map[string]string{"TRACESMITH_UPLOAD": "inline"}, 1, 8*time.Second)
	check(map[string]string{"CI": "true"}, 1, 8*time.Second)
	check(map[string]string{"CI": "false"}, 3)
	check(map[string]string{"CI": "true", "TRACESMITH_UPLOAD": "detached"}, 3)

	s := newStage(t)
	s.send(`{"Event":"stop","Session":"s1","PID":1}`)
	if len(s.waited) != 1 {
		t.Error("in a container of its own the agent ends before a drainer could")
	}
}
