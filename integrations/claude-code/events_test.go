package claudecode

import (
	"errors"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
)

func TestAgentsNameTellsItsVersion(t *testing.T) {
	for agent, want := range map[string]string{
		"claude-code_2-1-332_harness": "2.1.332",
		"claude-code_3-0-0":           "3.0.0",
		"claude-code":                 "",
		"another_1-2-3_harness":       "",
		"":                            "",
	} {
		if got := versionOf(agent); got != want {
			t.Errorf("%q: version %q, want %q", agent, got, want)
		}
	}
}

func TestCursorsPayloadIsNotTaken(t *testing.T) {
	_, err := peek(integrations.Payload{Body: []byte(`{"session_id":"s","hook_event_name":"Stop","cwd":"/","cursor_version":"1.7.2"}`)})
	if !errors.Is(err, integrations.ErrForeign) {
		t.Errorf("got %v", err)
	}
}
