package openaicodex_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// tally is what a recording's own rollouts count, read without any of the package's
// code.
type tally struct {
	input, output, cached, reasoning int64
	failed, interrupted              int // turns
	badExits                         int // commands that returned something else than 0
}

type countLine struct {
	Type    string
	Ordinal int64
	Payload struct {
		Type     string
		ID       string
		ThreadID string `json:"thread_id"`
		Usage    map[string]int64
		Reason   string
		Error    json.RawMessage
		Info     *struct {
			Total map[string]int64 `json:"total_token_usage"`
		}
		Item *struct {
			ExitCode *int `json:"exit_code"`
		}
		Output       json.RawMessage
		HistoryStart int64 `json:"subagent_history_start_ordinal"`
	}
}

func (c *tally) use(u map[string]int64) {
	c.input += u["input_tokens"]
	c.output += u["output_tokens"]
	c.cached += u["cached_input_tokens"]
	c.reasoning += u["reasoning_output_tokens"]
}

// count reads every rollout of a recording: the usage of its own calls, or the
// thread's total where calls are not recorded. What was copied does not count.
func count(t *testing.T, dir string) tally {
	t.Helper()
	var sum tally
	err := filepath.WalkDir(filepath.Join(dir, "home"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s := bufio.NewScanner(bytes.NewReader(raw))
		s.Buffer(nil, 8<<20)
		var total map[string]int64
		records, start, thread := false, int64(0), ""
		for s.Scan() {
			var l countLine
			if json.Unmarshal(s.Bytes(), &l) != nil {
				continue
			}
			p := l.Payload
			switch {
			case l.Type == "session_meta" && thread == "":
				thread, start = p.ID, p.HistoryStart
			case l.Ordinal < start:
			case l.Type == "token_usage_record" && p.ThreadID == thread:
				records = true
				sum.use(p.Usage)
			case p.Type == "token_count" && p.Info != nil:
				total = p.Info.Total
			case p.Type == "turn_aborted":
				sum.interrupted++
			case p.Type == "task_complete" && len(p.Error) > 0:
				sum.failed++
			case p.Type == "item_completed" && p.Item != nil && p.Item.ExitCode != nil && *p.Item.ExitCode > 0:
				sum.badExits++
			}
		}
		if !records {
			sum.use(total)
		}
		return s.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func number(m map[string]any, keys ...string) int64 {
	for _, key := range keys[:len(keys)-1] {
		m, _ = m[key].(map[string]any)
	}
	v, _ := m[keys[len(keys)-1]].(json.Number)
	n, _ := v.Int64()
	return n
}

func TestRunsCountWhatTheRolloutsCount(t *testing.T) {
	for _, dir := range recordings(t) {
		if _, err := os.Stat(filepath.Join(dir, "home")); err != nil {
			continue // the session kept no rollout
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			want := count(t, dir)
			var got tally
			items := false
			for _, run := range play(t, dir, replay.Options{}).Runs {
				m := run.Metadata()
				usage, _ := m["usage_metadata"].(map[string]any)
				if usage != nil && run.Kind() != runtypes.KindLLM {
					t.Errorf("%s run %s carries usage", run.Kind(), run.Name)
				}
				got.input += number(m, "usage_metadata", "input_tokens")
				got.output += number(m, "usage_metadata", "output_tokens")
				got.cached += number(m, "usage_metadata", "input_token_details", "cache_read")
				got.reasoning += number(m, "usage_metadata", "output_token_details", "reasoning")
				switch run.Kind() {
				case runtypes.KindInterrupted:
					if !strings.HasPrefix(run.Error, "Interrupted: the process") {
						got.interrupted++
					}
				case runtypes.KindSubagent:
					if strings.HasPrefix(run.Error, "Interrupted") {
						got.interrupted++
					}
				case runtypes.KindRoot:
					if run.Error != "" && m["error_class"] != nil {
						got.failed++
					}
				case runtypes.KindTool:
					code := number(m, "exit_code")
					if code > 0 { // below it was stopped
						got.badExits++
					}
					if code != 0 && run.Error == "" {
						t.Errorf("tool run %s returned %d without an error", run.Name, code)
					}
					items = items || m["duration_ms"] != nil
				}
			}
			if want.badExits == 0 && !items {
				want.badExits = got.badExits // versions that have them in the answers only
			}
			if got != want {
				t.Errorf("runs count %+v, the rollouts %+v", got, want)
			}
		})
	}
}
