package hookstable_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/hookstable"
)

func add(t *testing.T, settings string, e hookstable.Entry) string {
	t.Helper()
	out, err := hookstable.Add([]byte(settings), e)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestWhatWasAddedComesOutWithoutATrace(t *testing.T) {
	for _, before := range []string{
		"{}",
		"{\n  \"model\": \"x\"\n}\n",
		"{\"hooks\":{\"Stop\":[{\"matcher\":\"\",\"hooks\":[{\"type\":\"command\",\"command\":\"mine\"}]}]}}",
		"{\r\n\t\"hooks\": {\r\n\t\t\"Start\": []\r\n\t}\r\n}\r\n",
	} {
		out := add(t, before, hookstable.Entry{Event: "Stop", Command: "ours", Timeout: 3 * time.Second})
		if !strings.Contains(out, "ours") || !strings.Contains(out, "3") {
			t.Errorf("added %q", out)
		}
		if again := add(t, out, hookstable.Entry{Event: "Stop", Command: "ours"}); again != out {
			t.Errorf("a second time changed %q to %q", out, again)
		}
		after, err := hookstable.RemoveWhere([]byte(out), func(event, command string) bool { return event == "Stop" && command == "ours" })
		if err != nil {
			t.Fatal(err)
		}
		if string(after) != before {
			t.Errorf("left %q of %q", after, before)
		}
	}
}

func TestTablesOfAnotherShapeAreLeftAlone(t *testing.T) {
	for _, settings := range []string{"[]", `{"hooks":[]}`, `{"hooks":{"Stop":{}}}`, "{", "null"} {
		if _, err := hookstable.Add([]byte(settings), hookstable.Entry{Event: "Stop", Command: "ours"}); err == nil {
			t.Errorf("%q was changed", settings)
		}
		if _, err := hookstable.RemoveWhere([]byte(settings), func(string, string) bool { return true }); err == nil {
			t.Errorf("%q was changed", settings)
		}
	}
}
