//go:build linux

package road

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wireRun is what of a run these tests look at.
type wireRun struct {
	RunType                string `json:"run_type"`
	Inputs, Outputs, Error any
	Extra                  struct{ Metadata map[string]any }
}

// runsOf are the runs of a recording as they are in full.
func runsOf(t *testing.T, dir, home string) (runs []wireRun) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "runs.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(bytes.ReplaceAll(raw, []byte("/home/dev"), []byte(home)), &runs); err != nil {
		t.Fatal(err)
	}
	return runs
}

// conversation visits the texts of messages but for those that tools are given and give.
func conversation(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case []any:
		for _, each := range v {
			conversation(each, visit)
		}
	case map[string]any:
		kind, _ := v["type"].(string)
		if role, _ := v["role"].(string); role == "tool" || strings.HasPrefix(kind, "tool_") {
			return
		}
		for key, each := range v {
			if key != "tool_calls" {
				conversation(each, visit)
			}
		}
	}
}

// What a tool was given or gave is not sent, but where somebody said it as well. What
// was said is.
func TestNoToolContentIsInTheBytesOfALevelWithoutIt(t *testing.T) {
	w := tap(t)
	recordings, compared, kept := 0, 0, 0
	each(t, func(t *testing.T, r recorded) {
		if recordings++; r.agent != nil && recordings%3 != 0 {
			return // a third of the agents' shows it: each takes a while
		}
		home := w.play(t, r, "no-tool-content", nil)
		said := w.said(t)
		var tools, talk []string
		names := fixed + home
		for _, run := range runsOf(t, r.dir, home) {
			for _, v := range []any{run.Inputs, run.Outputs, run.Error} {
				if run.RunType == "tool" {
					walk(v, false, func(_, text string) { tools = append(tools, text) })
				} else {
					conversation(v, func(text string) { talk = append(talk, text) })
				}
			}
			walk(run.Extra.Metadata, false, func(_, text string) { names += "\n" + text })
		}
		grams := shingles(said, names+"\n"+strings.Join(talk, "\n"))
		for _, text := range tools {
			for i := 0; i+shingle <= len(text); i++ {
				compared++
				if where, leaked := grams[text[i:i+shingle]]; leaked {
					t.Errorf("%q is a tool's and is in %q", text[i:i+shingle], where)
					break
				}
			}
		}
		all := strings.Join(said, "\n")
		for _, text := range talk {
			if len(text) >= shingle && strings.Contains(all, text) {
				kept++
			}
		}
	})
	t.Logf("%d recordings, %d pieces compared, %d texts of conversations kept", recordings, compared, kept)
	if recordings < 200 || compared < 10_000 || kept < 200 {
		t.Errorf("too little was looked at")
	}
	for _, run := range w.server.Memory().Runs() {
		if run.Metadata()["capture_level"] != "no-tool-content" {
			t.Fatalf("%v", run.Metadata())
		}
	}
}
