package demo

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestTheDemoDeliversEveryRunOfItsSessions(t *testing.T) {
	program := filepath.Join(t.TempDir(), "tracesmith.exe") // a name every system starts
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/tracesmith").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	result, err := Run(t.Context(), Config{Program: program, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[runtypes.Kind]int{}
	for _, run := range result.Runs {
		kinds[run.Kind()]++
		if run.EndTime == "" {
			t.Errorf("%s run %s has no end", run.Kind(), run.Name)
		}
		if run.Metadata()["git_commit_sha"] == nil || run.Metadata()["git_repo_url"] == nil {
			t.Errorf("%s run %s lacks its commit or its remote", run.Kind(), run.Name)
		}
	}
	want := map[runtypes.Kind]int{
		runtypes.KindRoot: 2, runtypes.KindInterrupted: 1, runtypes.KindSubagent: 1,
		runtypes.KindLLM: 8, runtypes.KindTool: 8,
	}
	for kind, n := range want {
		if kinds[kind] != n {
			t.Errorf("%d %s runs, want %d", kinds[kind], kind, n)
		}
	}
	for _, v := range runtypes.ValidateWire(result.Runs) {
		t.Error(v)
	}
}
