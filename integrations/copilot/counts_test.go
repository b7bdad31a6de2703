package copilot_test

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

// tally is what a recording's own log counts, read without any of the package's code.
type tally struct {
	input, output, cacheRead, cacheWrite, reasoning int64
	replies                                         int // answers that the model gave
	tools, failed                                   int
	badExits                                        int // commands that returned something else than 0
	subagents, cancelled                            int
	interrupted                                     int // turns
	errors                                          int // turns
}

type countLine struct {
	Type string
	Data struct {
		Usage     map[string]any
		Used      map[string]any `json:"compactionTokensUsed"`
		Call      string         `json:"apiCallId"`
		Success   *bool
		Cancelled bool
		Shell     struct{ ExitCode int } `json:"shellExecution"`
		Model     string
		Metrics   map[string]struct {
			Usage map[string]any
		} `json:"modelMetrics"`
		Snapshot struct {
			Metrics map[string]struct {
				Usage map[string]any
			} `json:"modelMetrics"`
		} `json:"accountingSnapshot"`
	}
}

func (c *tally) use(u map[string]any) {
	for key, sum := range map[string]*int64{
		"inputTokens": &c.input, "outputTokens": &c.output, "cacheReadTokens": &c.cacheRead,
		"cacheWriteTokens": &c.cacheWrite, "reasoningTokens": &c.reasoning,
	} {
		n, _ := u[key].(float64)
		*sum += int64(n)
	}
}

// count reads every log of a recording. total is what the sessions' last lines say was
// used; zero where a session was killed.
func count(t *testing.T, dir string) (sum, total tally) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "home/.copilot/session-state/*/events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var last tally
		s := bufio.NewScanner(bytes.NewReader(raw))
		s.Buffer(nil, 8<<20)
		for s.Scan() {
			var l countLine
			if json.Unmarshal(s.Bytes(), &l) != nil {
				continue
			}
			switch d := l.Data; l.Type {
			case "session.usage_record":
				sum.use(d.Usage)
			case "session.compaction_complete":
				sum.use(d.Used)
				sum.replies++
			case "assistant.message":
				if d.Call != "" {
					sum.replies++
				}
			case "tool.execution_start":
				sum.tools++
			case "tool.execution_complete":
				if d.Success != nil && !*d.Success {
					sum.failed++
				}
				if d.Shell.ExitCode != 0 {
					sum.badExits++
				}
			case "subagent.started":
				sum.subagents++
			case "subagent.completed":
				if d.Cancelled {
					sum.cancelled++
				}
			case "abort":
				sum.interrupted++
			case "session.error":
				sum.errors++
			case "session.shutdown":
				last = tally{} // a resumed session counts on
				for _, m := range d.Metrics {
					last.use(m.Usage)
				}
				if len(d.Metrics) == 0 {
					for _, m := range d.Snapshot.Metrics {
						last.use(m.Usage)
					}
				}
			}
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		total.input += last.input
		total.output += last.output
	}
	return sum, total
}

func number(m map[string]any, keys ...string) int64 {
	for _, key := range keys[:len(keys)-1] {
		m, _ = m[key].(map[string]any)
	}
	v, _ := m[keys[len(keys)-1]].(json.Number)
	n, _ := v.Int64()
	return n
}

func counted(t *testing.T, runs []runtypes.Wire) tally {
	t.Helper()
	var got tally
	for _, run := range runs {
		m := run.Metadata()
		if _, used := m["usage_metadata"]; used && run.Kind() != runtypes.KindLLM {
			t.Errorf("%s run %s carries usage", run.Kind(), run.Name)
		}
		got.input += number(m, "usage_metadata", "input_tokens")
		got.output += number(m, "usage_metadata", "output_tokens")
		got.cacheRead += number(m, "usage_metadata", "input_token_details", "cache_read")
		got.cacheWrite += number(m, "usage_metadata", "input_token_details", "cache_creation")
		got.reasoning += number(m, "usage_metadata", "output_token_details", "reasoning")
		switch run.Kind() {
		case runtypes.KindLLM:
			if len(run.Outputs) > 0 {
				got.replies++
			}
		case runtypes.KindTool:
			got.tools++
			switch {
			case m["exit_code"] != nil && number(m, "exit_code") != 0:
				got.badExits++
			case run.Error != "" && m["ls_is_error_interrupt"] == nil:
				got.failed++
			}
		case runtypes.KindSubagent:
			got.subagents++
			if m["ls_is_error_interrupt"] != nil {
				got.cancelled++
			}
		case runtypes.KindInterrupted:
			if run.Error == "Interrupted by user" {
				got.interrupted++
			}
		case runtypes.KindRoot:
			if run.Error != "" {
				got.errors++
			}
		}
	}
	return got
}

func TestRunsCountWhatTheLogCounts(t *testing.T) {
	for _, dir := range recordings(t) {
		if _, err := os.Stat(filepath.Join(dir, "home")); err != nil {
			continue // the session kept no log
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			want, total := count(t, dir)
			got := counted(t, play(t, dir, replay.Options{}).Runs)
			if got != want {
				t.Errorf("runs count %+v, the log %+v", got, want)
			}
			if got.input > 0 && total.input > 0 && (got.input < total.input || got.output < total.output) {
				t.Errorf("runs used %d and %d tokens, the session says %d and %d", got.input, got.output, total.input, total.output)
			}
		})
	}
}
