package cursor_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// tally is what a recording's own events count, read without any of the package's code.
type tally struct{ tool, agent, input, output int }

func count(t *testing.T, dir string) tally {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "hooks.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var total tally
	tools, agents, told := map[string]bool{}, map[string]bool{}, map[string]bool{}
	type use struct{ in, out int }
	used := map[string]use{}
	s := bufio.NewScanner(bytes.NewReader(raw))
	s.Buffer(nil, 8<<20)
	for s.Scan() {
		var l struct {
			At, Event string
			Stdin     struct {
				Generation string `json:"generation_id"`
				ToolID     string `json:"tool_use_id"`
				Agent      string `json:"subagent_id"`
				Input      *int   `json:"input_tokens"`
				Output     *int   `json:"output_tokens"`
			}
		}
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		in := l.Stdin
		if key := l.At + l.Event + in.Generation + in.ToolID; told[key] {
			continue // a hook that is registered twice
		} else {
			told[key] = true
		}
		switch {
		case l.Event == "preToolUse" && in.ToolID == "":
			total.tool++
		case in.ToolID != "":
			tools[in.Generation+in.ToolID] = true
		case l.Event == "subagentStart":
			agents[in.Agent] = true
		case in.Input != nil:
			used[in.Generation] = use{*in.Input, *in.Output}
		}
	}
	total.tool += len(tools)
	total.agent = len(agents)
	for _, u := range used {
		total.input += u.in
		total.output += u.out
	}
	return total
}

func TestRunsCountWhatTheEventsCount(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			var got tally
			for _, run := range play(t, dir, replay.Options{}).Runs {
				n := func(key string) int {
					v, _ := usage(run)[key].(json.Number)
					i, _ := v.Int64()
					return int(i)
				}
				got.input += n("input_tokens")
				got.output += n("output_tokens")
				switch run.Kind() {
				case runtypes.KindTool:
					got.tool++
				case runtypes.KindSubagent:
					got.agent++
				}
			}
			if want := count(t, dir); got != want {
				t.Errorf("runs count %+v, the events %+v", got, want)
			}
		})
	}
}
