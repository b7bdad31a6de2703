package capture

import (
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/journal"
)

func TestTheUserIsToldWhenDeliveriesFail(t *testing.T) {
	s := newStage(t)
	s.agent.Hooks = append(s.agent.Hooks, integrations.Hook{Event: "begin", Greets: true})
	s.agent.Notice = func(text string) []byte { return []byte("notice: " + text) }
	s.env["TRACESMITH_API_KEY"] = "key"
	state, err := journal.Open(s.dir())
	if err != nil {
		t.Fatal(err)
	}
	settings, err := config.Load(config.Options{Env: func(key string) string { return s.env[key] }})
	if err != nil {
		t.Fatal(err)
	}
	check := func(name, id string, told bool, record journal.Destination) {
		t.Helper()
		if _, err := state.UpdateDestination(id, func(d *journal.Destination) { *d = record }); err != nil {
			t.Fatal(err)
		}
		s.out.Reset()
		s.send(event("begin"))
		if (s.out.Len() > 0) != told {
			t.Errorf("%s: printed %q", name, s.out.String())
		}
		s.out.Reset()
		s.send(event("prompt"))
		if s.out.Len() > 0 {
			t.Errorf("%s: another hook printed %q", name, s.out.String())
		}
	}
	id := settings.Destination()
	now := time.Now()
	check("nothing failed", id, false, journal.Destination{Since: now.Add(-48 * time.Hour)})
	check("two failures", id, false, journal.Destination{Since: now, Failures: 2})
	check("three failures", id, true, journal.Destination{Since: now, Delivered: now, Failures: 3, Error: "status 401"})
	check("a day without a delivery", id, true, journal.Destination{Since: now.Add(-48 * time.Hour), Delivered: now.Add(-25 * time.Hour), Failures: 1})
	check("it works again", id, false, journal.Destination{Since: now.Add(-48 * time.Hour), Delivered: now})
	check("a destination of another shell", "langsmith-another", false, journal.Destination{Since: now, Failures: 9})
	s.agent.Notice = nil
	check("an agent that shows no such thing", id, false, journal.Destination{Since: now, Failures: 9})
}
