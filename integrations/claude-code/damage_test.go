package claudecode_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

const transcripts = "home/.claude/projects/*/*.jsonl"

func TestAFieldOfAnotherShapeVoidsThatFieldOnly(t *testing.T) {
	for name, change := range map[string][2]string{
		"a count that is not whole":    {`"output_tokens":120,`, `"output_tokens":1.5,`},
		"a number for a word":          {`"gitBranch":"feature/trace"`, `"gitBranch":7`},
		"a word for an object":         {`"permissionDecision":{`, `"permissionDecision":"x","other":{`},
		"a time that is none":          {`"timestamp":"2026-11-30T04:29:01.765Z"`, `"timestamp":"yesterday"`},
		"blanks between key and value": {`"type":"assistant"`, `"type" : "assistant"`},
	} {
		runs := altered(t, "parallel", transcripts, change[0], change[1])
		if llm, tools := len(of(runs, runtypes.KindLLM)), len(of(runs, runtypes.KindTool)); llm != 2 || tools != 3 {
			t.Errorf("%s: %d model calls and %d tools, want 2 and 3", name, llm, tools)
		}
		for _, v := range runtypes.ValidateWire(runs) {
			t.Errorf("%s: %v", name, v)
		}
	}
}

func TestALineThatCannotBeReadMakesTheTurnPartial(t *testing.T) {
	runs := altered(t, "parallel", transcripts, `"stop_reason":"end_turn"`, `"stop_reason":"end_tur`)
	if one(t, runs, runtypes.KindRoot).Metadata()["partial"] != true {
		t.Error("the root does not say that something is missing")
	}
}

func TestToolsThatHooksWitnessedSurviveTheirTranscript(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/failing")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "home")); err != nil {
		t.Fatal(err)
	}
	runs := play(t, dir, replay.Options{Cut: true}).Runs
	tools := of(runs, runtypes.KindTool)
	if len(tools) != 2 {
		t.Fatalf("%d tools, the hooks saw 2 run", len(tools))
	}
	for _, tool := range tools {
		if tool.Error == "" || tool.EndTime == "" {
			t.Errorf("%s: error %q, end %q; it failed", tool.Name, tool.Error, tool.EndTime)
		}
	}
}
