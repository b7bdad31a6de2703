package pi_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// tally is what a recording's own session files count, read without any of the
// package's code.
type tally struct {
	Replies, Failed, Aborted        int // of models
	Tools, ToolErrors               int
	Subagents                       int
	Compactions, UserCommands       int
	Input, Output, Cached, Thoughts int64
}

type countMessage struct {
	Role       string
	StopReason string
	Content    json.RawMessage
	IsError    bool
	DurationMs float64
	ToolCallID string `json:"toolCallId"`
	Usage      *countUsage
	Details    struct {
		Results []struct{ Messages []countMessage }
	}
}

type countUsage struct{ Input, Output, CacheRead, CacheWrite, Reasoning int64 }

func (c *tally) use(u *countUsage) {
	if u != nil {
		c.Input += u.Input + u.CacheRead + u.CacheWrite
		c.Output += u.Output
		c.Cached += u.CacheRead
		c.Thoughts += u.Reasoning
	}
}

func (c *tally) message(m *countMessage) {
	switch {
	case m.Role == "assistant" && m.StopReason == "aborted":
		if string(m.Content) != "[]" {
			c.Aborted++
		}
	case m.Role == "assistant" && m.StopReason == "error":
		c.Failed++
	case m.Role == "assistant":
		c.Replies++
		c.use(m.Usage)
	case m.Role == "toolResult":
		c.Tools++
		if m.IsError {
			c.ToolErrors++
		}
		for _, r := range m.Details.Results {
			c.Subagents++
			for i := range r.Messages {
				c.message(&r.Messages[i])
			}
		}
	case m.Role == "bashExecution":
		c.UserCommands++
		c.Tools++
	}
}

// count reads every session file of a recording.
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
		for s.Scan() {
			var l struct {
				Type    string
				Message *countMessage
				Usage   *countUsage
			}
			if json.Unmarshal(s.Bytes(), &l) != nil {
				continue
			}
			if l.Type == "compaction" {
				sum.Compactions++
				sum.use(l.Usage)
			}
			if l.Message != nil {
				sum.message(l.Message)
			}
		}
		return s.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestRunsCountWhatTheSessionFilesCount(t *testing.T) {
	for _, dir := range recordings(t) {
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := count(t, dir)
			var got tally
			responses := map[any]bool{}
			for _, run := range play(t, dir, replay.Options{}).Runs {
				m := run.Metadata()
				if m["usage_metadata"] != nil && run.Kind() != runtypes.KindLLM {
					t.Errorf("%s run %s carries usage", run.Kind(), run.Name)
				}
				if id := m["response_id"]; id != nil && responses[id] {
					t.Errorf("response %v is told twice", id)
				} else if id != nil {
					responses[id] = true
				}
				got.Input += number(m, "usage_metadata", "input_tokens")
				got.Output += number(m, "usage_metadata", "output_tokens")
				got.Cached += number(m, "usage_metadata", "input_token_details", "cache_read")
				got.Thoughts += number(m, "usage_metadata", "output_token_details", "reasoning")
				got.add(run, m)
			}
			switch name {
			case "continue": // the file has a turn that was not streamed
				want.Replies, want.Input, want.Output, want.Cached = want.Replies-1, want.Input-1200, want.Output-45, want.Cached-800
			case "slow-sigint": // the reply that was cut off is in no file
				want.Aborted++
			case "slowtool-sigint": // nor is the tool
				want.Tools, want.ToolErrors = want.Tools+1, want.ToolErrors+1
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-session files +runs)\n%s", diff)
			}
		})
	}
}

// add counts a run.
func (c *tally) add(run runtypes.Wire, m map[string]any) {
	switch run.Kind() {
	case runtypes.KindLLM:
		switch {
		case m["ls_agent_type"] == "compaction":
		case m["ls_is_error_interrupt"] == true:
			c.Aborted++
		case run.Error != "":
			c.Failed++
		default:
			c.Replies++
		}
	case runtypes.KindTool:
		c.Tools++
		if run.Error != "" {
			c.ToolErrors++
		}
	case runtypes.KindSubagent:
		c.Subagents++
	case runtypes.KindChain:
		c.Compactions++
	case runtypes.KindRoot:
		if m["turn_origin"] == "user_shell" {
			c.UserCommands++
		}
	}
}
