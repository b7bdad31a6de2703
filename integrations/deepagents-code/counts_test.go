package deepagentscode_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// tally is what a recording's database holds: counted with LangGraph's own reader when
// it was recorded, and with none of this package's code.
type tally struct {
	Replies      int   `json:"replies"` // of the model, in part or whole
	Input        int64 `json:"input"`
	Output       int64 `json:"output"`
	CacheRead    int64 `json:"cache_read"`
	CacheWritten int64 `json:"cache_written"`
	Calls        int   `json:"calls"`   // of tools
	Results      int   `json:"results"` // that came back
	Failed       int   `json:"failed"`  // of them
	Subagents    int   `json:"subagents"`
	Errors       int   `json:"errors"` // of the model
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
		switch run.Kind() {
		case runtypes.KindLLM:
			got.Input += number(m, "usage_metadata", "input_tokens")
			got.Output += number(m, "usage_metadata", "output_tokens")
			got.CacheRead += number(m, "usage_metadata", "input_token_details", "cache_read")
			for _, written := range []string{"cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"} {
				got.CacheWritten += number(m, "usage_metadata", "input_token_details", written)
			}
			if len(run.Outputs) > 0 {
				got.Replies++
			} else {
				got.Errors++
			}
		case runtypes.KindTool:
			got.Calls++
			if m["ls_is_error_interrupt"] == nil {
				got.Results++
				if run.Error != "" && m["tool_error_class"] != "exit_code" { // a success to the agent
					got.Failed++
				}
			}
		case runtypes.KindSubagent:
			got.Subagents++
		}
	}
	return got
}

func TestRunsCountWhatTheDatabaseCounts(t *testing.T) {
	files, err := filepath.Glob("testdata/*/counts.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings with a database: %v", err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want tally
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			if got := counted(t, play(t, dir, replay.Options{}).Runs); got != want {
				t.Errorf("runs count %+v, the database %+v", got, want)
			}
		})
	}
}
