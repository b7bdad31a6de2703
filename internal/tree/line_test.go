package tree

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestALineIsThatOfTheTree(t *testing.T) {
	for _, run := range sampleRuns(t) {
		if run.Name == "Bash" {
			if got, want := Line(run, Options{}, "12:00  "), "12:00  ▪ tool Bash  1.2s  error: exit status 1 [31mred [0m"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	}
}

func TestWaitingForAPersonIsShownAndSummed(t *testing.T) {
	runs := sampleRuns(t)
	for i := range runs {
		if runs[i].Name == "Bash" || runs[i].Name == "Edit" {
			wait(&runs[i], "1500")
		}
	}
	var b bytes.Buffer
	if err := Render(&b, runs, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2m5s  waited 3.0s  2026", "Bash  1.2s  waited 1.5s  error", "Edit  running  waited 1.5s"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	for i := range runs {
		wait(&runs[i], "9223372036854775807")
	}
	b.Reset()
	if err := Render(&b, runs, Options{}); err != nil || strings.Contains(b.String(), "waited -") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func wait(run *runtypes.Wire, ms string) {
	extra := map[string]any{"metadata": run.Metadata()}
	extra["metadata"].(map[string]any)["permission_wait_ms"] = json.Number(ms)
	run.Extra, _ = json.Marshal(extra)
}
