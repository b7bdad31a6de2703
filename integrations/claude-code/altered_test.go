package claudecode_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// altered replays a recording with a text in its files replaced: what was seen of
// the real program at other times, and does not wait to be recorded whole.
func altered(t *testing.T, name, files, old, replacement string) []runtypes.Wire {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(filepath.Join(dir, files))
	found := false
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found = found || bytes.Contains(text, []byte(old))
		text = bytes.ReplaceAll(text, []byte(old), []byte(replacement))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !found {
		t.Fatalf("%s does not hold %s", name, old)
	}
	return play(t, dir, replay.Options{}).Runs
}

// The program marks a reply that was cut in the middle of a block, and not one that
// was cut behind a block.
func TestAReplyCutBetweenBlocksInventsNoUsage(t *testing.T) {
	runs := altered(t, "tui-esc-stream", "home/.claude/projects/*/*.jsonl", `"isAbortedMidStream":true`, `"isAbortedMidStream":false`)
	cut := of(runs, runtypes.KindLLM)[0]
	if cut.Metadata()["usage_metadata"] != nil {
		t.Errorf("usage %v", cut.Metadata()["usage_metadata"])
	}
	if cut.Error != "Interrupted by user" || !strings.Contains(string(cut.Outputs), "Line 7:") {
		t.Errorf("error %q, output %s", cut.Error, cut.Outputs)
	}
}

// The interactive program begins its transcript with the first reply, and may have
// its first tool on the way before that is on disk.
func TestATranscriptThatLagsBehindTheFirstToolIsWaitedFor(t *testing.T) {
	got := altered(t, "tui-permission-accept", "hooks.jsonl", `.jsonl":3}`, `.jsonl":0}`)
	if diff := cmp.Diff(replayed(t, "tui-permission-accept"), got); diff != "" {
		t.Errorf("runs (-recorded +lagging):\n%s", diff)
	}
}

// The hook that tells of the question is a process among others: a quick answer may
// be ahead of it.
func TestAQuestionHeardOfAfterItsAnswerStillShows(t *testing.T) {
	runs := altered(t, "tui-permission-accept", "hooks.jsonl", `"duration_ms":62`, `"duration_ms":1400`)
	write := of(runs, runtypes.KindTool)[0].Metadata()
	if write["permission_wait_ms"] != json.Number("0") || write["permission_decision"] != "accept" {
		t.Errorf("permission_wait_ms is %v, permission_decision %v", write["permission_wait_ms"], write["permission_decision"])
	}
}
