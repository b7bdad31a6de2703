package tree

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// sampleRuns is a turn with a model call, a tool that failed, a subagent with
// one of its own, and a tool that still runs; and a turn that was interrupted.
func sampleRuns(t *testing.T) []runtypes.Wire {
	t.Helper()
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	who := runtypes.Identity{Integration: "claude-code", Runtime: "Claude Code", ThreadID: "th"}
	root := runtypes.Root(idgen.Run(start, "root"), start, who)
	llm := runtypes.LLM(root, idgen.Run(start, "llm"), at(0.1), runtypes.Model{Name: "claude-opus-4-5", Provider: "anthropic"})
	llm.Usage = &runtypes.Usage{Input: 12_345, Output: 678}
	tool := runtypes.Tool(root, idgen.Run(start, "tool"), at(1), "Bash")
	tool.Error = "exit status 1\n\x1b[31mred\x1b[0m"
	task := runtypes.Tool(root, idgen.Run(start, "task"), at(2), "Task")
	sub := runtypes.Subagent(task, idgen.Run(start, "sub"), at(2), runtypes.SubagentInfo{ID: "a1", Type: "researcher"})
	subLLM := runtypes.LLM(sub, idgen.Run(start, "sub-llm"), at(3), runtypes.Model{Name: "claude-haiku-4-5"})
	subLLM.Usage = &runtypes.Usage{Input: 100, Output: 22}
	open := runtypes.Tool(root, idgen.Run(start, "open"), at(80), "Edit")
	for r, end := range map[*runtypes.Run]float64{root: 125, llm: 0.44, tool: 2.25, task: 70, sub: 70, subLLM: 4} {
		runtypes.Finish(r, at(end))
	}
	stopped := runtypes.Root(idgen.Run(at(200), "stopped"), at(200), who)
	runtypes.Interrupt(stopped, at(200+3720), "Interrupted by user")

	var wires []runtypes.Wire
	for _, r := range []*runtypes.Run{stopped, open, subLLM, sub, task, tool, llm, root} {
		w, err := runtypes.Encode(runtypes.Op{Verb: runtypes.Post, Run: r})
		if err != nil {
			t.Fatal(err)
		}
		wires = append(wires, w)
	}
	return wires
}

func TestATreeShowsKindNameTokensDurationAndError(t *testing.T) {
	var b bytes.Buffer
	if err := Render(&b, sampleRuns(t), Options{}); err != nil {
		t.Fatal(err)
	}
	want := `● root Claude Code Turn  12.4k in, 700 out  2m5s  2026-11-30T12:00:00Z
├─ ◆ llm Claude Code claude-opus-4-5  12.3k in, 678 out  340ms
├─ ▪ tool Bash  1.2s  error: exit status 1 [31mred [0m
├─ ▪ tool Task  100 in, 22 out  1m8s
│  └─ ◇ subagent researcher Subagent  100 in, 22 out  1m8s
│     └─ ◆ llm Claude Code claude-haiku-4-5  100 in, 22 out  1.0s
└─ ▪ tool Edit  running

◐ interrupted Claude Code Turn  1h2m  2026-11-30T12:03:20Z  interrupted: Interrupted by user
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestATreeKeepsWithinItsWidthAndResetsItsColours(t *testing.T) {
	for _, width := range []int{1, 2, 10, 40, 79, 200} {
		for _, colour := range []bool{false, true} {
			var b bytes.Buffer
			if err := Render(&b, sampleRuns(t), Options{Width: width, Color: colour}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				line = strings.TrimSuffix(line, "\n")
				if colour && line != "" && !strings.HasSuffix(line, "\x1b[0m") {
					t.Errorf("not reset: %q", line)
				}
				for _, s := range []style{styleDim, styleBold, styleRed, styleYellow} {
					line = strings.ReplaceAll(line, "\x1b["+string(s)+"m", "")
				}
				line = strings.ReplaceAll(line, "\x1b[0m", "")
				if n := utf8.RuneCountInString(line); n > width || strings.Contains(line, "\x1b") {
					t.Errorf("width %d: %d columns: %q", width, n, line)
				}
			}
		}
	}
}

func TestRunsWithoutTheirParentStandAlone(t *testing.T) {
	runs := sampleRuns(t)
	var b bytes.Buffer
	if err := Render(&b, runs[2:3], Options{}); err != nil || !strings.HasPrefix(b.String(), "◆ llm") {
		t.Errorf("%q %v", b.String(), err)
	}
	b.Reset()
	if err := Render(&b, nil, Options{}); err != nil || b.Len() != 0 {
		t.Errorf("%q %v", b.String(), err)
	}
}

func TestTokensBeyondAllMeasureDoNotOverflowTheirSum(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	root := runtypes.Root(idgen.Run(start, "root"), start, runtypes.Identity{Integration: "x", ThreadID: "th"})
	runs := []runtypes.Op{{Verb: runtypes.Post, Run: root}}
	for _, name := range []string{"a", "b"} {
		llm := runtypes.LLM(root, idgen.Run(start, name), start, runtypes.Model{Name: "m"})
		llm.Usage = &runtypes.Usage{Input: math.MaxInt64, Output: 1}
		runs = append(runs, runtypes.Op{Verb: runtypes.Post, Run: llm})
	}
	var wires []runtypes.Wire
	for _, op := range runs {
		w, err := runtypes.Encode(op)
		if err != nil {
			t.Fatal(err)
		}
		wires = append(wires, w)
	}
	var out bytes.Buffer
	if err := Render(&out, wires, Options{}); err != nil || !strings.Contains(out.String(), "2199023.3M in, 2 out") {
		t.Errorf("%v: printed %s", err, out.String())
	}
}
