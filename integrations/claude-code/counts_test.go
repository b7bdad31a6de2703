package claudecode_test

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

// tally is what a recording's own transcripts count, read without any of the
// package's code.
type tally struct {
	llm, tool, input, output int
	failed                   int
}

// count reads every transcript of a recording: distinct model messages with their
// last usage, distinct tool calls. Lines copied by a fork do not count, nor does the
// usage of a reply that was cut off: it is a placeholder.
func count(t *testing.T, dir string) tally {
	t.Helper()
	type use struct{ in, out int }
	messages, tools := map[string]use{}, map[string]bool{}
	var total tally
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
				Type, SessionID, RequestSessionID string
				Aborted                           bool `json:"isAbortedMidStream"`
				Message                           struct {
					ID, Model string
					Content   json.RawMessage
					Usage     map[string]any
				}
			}
			if json.Unmarshal(s.Bytes(), &l) != nil || l.Type != "assistant" {
				continue
			}
			if l.RequestSessionID != "" && l.RequestSessionID != l.SessionID {
				continue
			}
			if l.Message.Model == "<synthetic>" {
				total.failed++
				continue
			}
			n := func(key string) int { f, _ := l.Message.Usage[key].(float64); return int(f) }
			u := use{n("input_tokens") + n("cache_read_input_tokens") + n("cache_creation_input_tokens"), n("output_tokens")}
			if l.Aborted {
				u = use{}
			}
			messages[l.Message.ID] = u
			var blocks []struct{ Type, ID string }
			_ = json.Unmarshal(l.Message.Content, &blocks)
			for _, b := range blocks {
				if b.Type == "tool_use" {
					tools[b.ID] = true
				}
			}
		}
		return s.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	total.llm, total.tool = len(messages), len(tools)
	for _, u := range messages {
		total.input += u.in
		total.output += u.out
	}
	return total
}

func TestRunsCountWhatTheTranscriptsCount(t *testing.T) {
	for _, dir := range recordings(t) {
		if _, err := os.Stat(filepath.Join(dir, "home")); err != nil {
			continue // the session kept no transcript
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			want := count(t, dir)
			var got tally
			for _, run := range play(t, dir, replay.Options{}).Runs {
				usage, _ := run.Metadata()["usage_metadata"].(map[string]any)
				n := func(key string) int {
					v, _ := usage[key].(json.Number)
					i, _ := v.Int64()
					return int(i)
				}
				got.input += n("input_tokens")
				got.output += n("output_tokens")
				switch run.Kind() {
				case runtypes.KindLLM:
					if usage == nil && run.Error != "" && !strings.HasPrefix(run.Error, "Interrupted") {
						got.failed++
						continue
					}
					got.llm++
				case runtypes.KindTool:
					got.tool++
				}
			}
			if got.failed > want.failed {
				t.Errorf("%d failed model calls, the transcript has %d", got.failed, want.failed)
			}
			want.failed = got.failed
			if got != want {
				t.Errorf("runs count %+v, the transcripts %+v", got, want)
			}
		})
	}
}
