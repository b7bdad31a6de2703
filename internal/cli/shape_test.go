package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestRunsCarryTheSettingsOfTheirFolder(t *testing.T) {
	asked := 0
	s := newShaper(func(_, dir string) (config.Config, error) {
		asked++
		switch dir {
		case "/private":
			return config.Config{Content: config.Metadata, Project: "mine", Tags: []string{"team"}, Metadata: map[string]string{"team": "core"}}, nil
		case "/broken":
			return config.Config{Content: config.Full}, errors.New("does not parse")
		}
		return config.Config{Content: config.Full, Tags: []string{"team"}, Metadata: map[string]string{"team": "core", "known": "no"}}, nil
	})
	f := func(dir, want string) {
		t.Helper()
		shared := map[string]any{"known": "yes"}
		run := &runtypes.Run{
			ID: uuid.New(), Inputs: []byte(`{}`), Metadata: shared, Tags: []string{"own"},
			Identity: runtypes.Identity{Integration: "toy", WorkingDirectory: dir},
		}
		s.shape(run)
		got := fmt.Sprint(run.Project, run.Tags, run.Metadata, string(run.Inputs))
		if got != want || len(shared) != 1 {
			t.Errorf("%s: got %s, want %s", dir, got, want)
		}
	}
	f("/src", `toy[own team] map[known:yes team:core]{}`)
	f("/private", `[team] map[team:core]`) // of the run only what is known to be no content
	f("/broken", `toy[] map[]`)            // it may have asked for less: no content
	f("/src", `toy[own team] map[known:yes team:core]{}`)
	if asked != 3 {
		t.Errorf("settings were read %d times for 3 folders", asked)
	}
}

func TestRunsAreWithoutWhatTheUsersOwnRulesName(t *testing.T) {
	settings := config.Config{Content: config.Full, Rules: redact.Rules{{Pattern: regexp.MustCompile("ACME-[0-9]+"), With: "[ticket]"}}}
	s := newShaper(func(string, string) (config.Config, error) { return settings, nil })
	run := &runtypes.Run{Inputs: json.RawMessage(`{"a":"fix ACME-7"}`), Outputs: json.RawMessage(`{"a":"done"}`)}
	if s.shape(run); string(run.Inputs) != `{"a":"fix [ticket]"}` || string(run.Outputs) != `{"a":"done"}` {
		t.Errorf("sent %s, %s", run.Inputs, run.Outputs)
	}
	run.Inputs = json.RawMessage(`{"a":"fix ACME-7"`)
	if s.shape(run); strings.Contains(string(run.Inputs), "ACME") {
		t.Errorf("where the rules fail content is sent: %s", run.Inputs)
	}
}
