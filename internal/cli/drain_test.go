package cli

import (
	"log/slog"
	"math"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/delivery"
)

func TestAgentsThatGoElsewhereHaveADrainerOfTheirOwn(t *testing.T) {
	env := map[string]string{"LANGSMITH_API_KEY": "key-of-everybody"}
	a := &app{env: func(name string) string { return env[name] }}
	others := slices.DeleteFunc(agents.Names(), func(name string) bool { return name == "claude-code" })
	check := func(name, session string, want ...[]string) {
		t.Helper()
		groups, err := a.groups(drainFlags{session: session}, slog.New(slog.DiscardHandler))
		var got [][]string
		for _, g := range groups {
			got = append(got, g.agents)
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	check("the same for all", "", agents.Names())
	env["CC_LANGSMITH_PROJECT"] = "mine"
	check("a project of its own", "", []string{"claude-code"}, others)
	check("its session", "claude-code/0123", []string{"claude-code"})
	check("another's session", others[0]+"/0123", others)
	env["LANGSMITH_RUNS_ENDPOINTS"] = `[{"api_url": "https://a.example", "api_key": "k"}, {"api_url": "https://b.example", "api_key": "l"}]`
	groups, err := a.groups(drainFlags{session: "claude-code/0123"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	places := delivery.Places(groups[0].settings, a.env)
	if len(places) != 2 || places[1].Err != nil || places[1].Endpoint != places[1].Send.Endpoint || places[1].Send.APIKey != "l" || places[0].ID == places[1].ID {
		t.Errorf("%+v", places)
	}
	env["LANGSMITH_HIDE_INPUTS"] = "true"
	env["LANGSMITH_TRACING_SAMPLING_RATE"] = "0.5"
	if groups, err = a.groups(drainFlags{}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		if places := delivery.Places(g.settings, a.env); len(places) == 0 || !places[0].Send.HideInputs || places[0].Send.Sampling == nil || places[0].Send.HideOutputs {
			t.Errorf("%v: what is to be hidden is not: %+v", g.agents, places)
		}
	}
	if _, err := a.groups(drainFlags{session: "nobody/0123"}, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("an unknown agent was served")
	}
}

func TestADrainerTakesLittleMemoryUnlessToldOtherwise(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	a := &app{env: func(name string) string { return map[string]string{"TRACESMITH_STATE": t.TempDir()}[name] }}
	check := func(want int64) {
		t.Helper()
		if err := a.drain(t.Context(), drainFlags{}); err != nil {
			t.Error(err)
		}
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("a limit of %d, want %d", got, want)
		}
	}
	check(drainMemory)
	debug.SetMemoryLimit(1 << 30)
	check(1 << 30)
}
