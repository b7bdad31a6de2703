// Package replaytest holds what every agent's recordings have to show, for the tests of
// the integrations.
package replaytest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Update is set where the golden runs are to be rewritten.
var Update = flag.Bool("update", false, "rewrite the golden runs")

// Recordings lists the recorded sessions below testdata: the folders that hold a file,
// hooks.jsonl or events.jsonl.
func Recordings(t *testing.T, file string) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join("testdata", "*", file))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for i := range dirs {
		dirs[i] = filepath.Dir(dirs[i])
	}
	return dirs
}

// Play replays a recording.
func Play(t *testing.T, agent *integrations.Agent, dir string, o replay.Options) replay.Result {
	t.Helper()
	rec, err := replay.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	res, err := rec.Run(agent, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Golden holds the runs of each recording against its runs.json.
func Golden(t *testing.T, agent func() *integrations.Agent, dirs []string) {
	t.Helper()
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			got := Indent(t, Play(t, agent(), dir, replay.Options{}).Runs)
			golden := filepath.Join(dir, "runs.json")
			if *Update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("runs differ from %s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

// Contract wants runs of each recording that keep the contract and have ended.
func Contract(t *testing.T, agent func() *integrations.Agent, dirs []string) {
	t.Helper()
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			res := Play(t, agent(), dir, replay.Options{})
			if len(res.Runs) == 0 {
				t.Fatal("no runs")
			}
			for _, v := range runtypes.ValidateWire(res.Runs) {
				t.Error(v)
			}
			for _, run := range res.Runs {
				if run.EndTime == "" {
					t.Errorf("%s run %s (%s) has no end", run.Kind(), run.ID, run.Name)
				}
			}
		})
	}
}

// Live are the ways in which a drainer may come while the session goes on.
func Live() map[string]replay.Options {
	return map[string]replay.Options{
		"twice":              {},
		"cut at every line":  {Cut: true},
		"awake all the time": {Polls: true},
		"awake, cut":         {Polls: true, Cut: true},
	}
}

// Always are those of Live and a drainer that comes after everything. It is never late
// and awake at once: Grew promises that the hooks before visible lines were heard.
func Always() map[string]replay.Options {
	ways := Live()
	ways["after everything"] = replay.Options{Late: true}
	ways["late, cut"] = replay.Options{Late: true, Cut: true}
	return ways
}

// Same wants the same runs of each recording however the drainer's passes fall, and
// wherever it is killed.
func Same(t *testing.T, agent func() *integrations.Agent, dirs []string, ways map[string]replay.Options) {
	t.Helper()
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			want := Indent(t, Play(t, agent(), dir, replay.Options{}).Runs)
			for name, o := range ways {
				got := Indent(t, Play(t, agent(), dir, o).Runs)
				if diff := cmp.Diff(string(want), string(got)); diff != "" {
					t.Errorf("%s: runs differ (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// Indent prints runs as the goldens hold them. Tracesmith's own version is not part of
// what a recording gives.
func Indent(t *testing.T, runs []runtypes.Wire) []byte {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(runs); err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(buf.Bytes(), []byte(`"`+runtypes.Version()+`"`), []byte(`"VERSION"`))
}
