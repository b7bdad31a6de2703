package deepagentscode_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/integrations"
	deepagentscode "github.com/tracesmith/tracesmith/integrations/deepagents-code"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

var update = flag.Bool("update", false, "rewrite the golden runs")

// recordings lists the recorded sessions.
func recordings(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/*/hooks.jsonl")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for i := range dirs {
		dirs[i] = filepath.Dir(dirs[i])
	}
	return dirs
}

// agent is the one that is tested.
func agent() *integrations.Agent { return deepagentscode.Agent() }

func play(t *testing.T, dir string, o replay.Options) replay.Result {
	t.Helper()
	rec, err := replay.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	res, err := rec.Run(agent(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestRecordingsGiveTheGoldenRuns(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			got := indent(t, play(t, dir, replay.Options{}).Runs)
			golden := filepath.Join(dir, "runs.json")
			if *update {
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

func TestRunsKeepTheContract(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			res := play(t, dir, replay.Options{})
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

// However the drainer's passes fall, and wherever it is killed, the runs are the same.
func TestRunsDoNotDependOnWhenTheDrainerLooks(t *testing.T) {
	variations := map[string]replay.Options{
		"twice":              {},
		"cut at every line":  {Cut: true},
		"awake all the time": {Polls: true},
		"awake, cut":         {Polls: true, Cut: true},
		"after everything":   {Late: true},
		"late, cut":          {Late: true, Cut: true},
	}
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			want := indent(t, play(t, dir, replay.Options{}).Runs)
			for name, o := range variations {
				got := indent(t, play(t, dir, o).Runs)
				if diff := cmp.Diff(string(want), string(got)); diff != "" {
					t.Errorf("%s: runs differ (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// indent prints runs as the goldens hold them. Tracesmith's own version is not
// part of what a recording gives.
func indent(t *testing.T, runs []runtypes.Wire) []byte {
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
