package opencode_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// tally is what a recording holds, read without any of the package's code.
type tally struct {
	Calls     int // of the model, with usage
	Input     int64
	Output    int64
	Cached    int64
	Cost      float64
	Tools     int
	Subagents int
	Aborted   int // messages that the user stopped
}

type countedLine struct {
	Hook  string
	Input struct {
		SessionID string
		Event     struct {
			Type       string
			Properties struct {
				SessionID string
				Info      struct {
					ID, ParentID, Role, Finish string
					Cost                       float64
					Tokens                     struct {
						Input, Output, Reasoning int64
						Cache                    struct{ Read, Write int64 }
					}
					Time  struct{ Created, Completed int64 }
					Error struct{ Name string }
				}
				Part struct{ ID, Type, MessageID, CallID string }
			}
		}
	}
}

// count reads the lines of a recording. What was copied into a fork is older than its
// session and does not count.
func count(t *testing.T, dir string) tally {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var sum tally
	created, child := map[string]int64{}, map[string]bool{}
	counted, copied, aborted := map[string]bool{}, map[string]bool{}, map[string]bool{}
	s := bufio.NewScanner(bytes.NewReader(raw))
	s.Buffer(nil, 8<<20)
	for s.Scan() {
		var l countedLine
		_ = json.Unmarshal(s.Bytes(), &l) // fields of other types are left out
		p := l.Input.Event.Properties
		switch {
		case l.Hook == "chat.message" && child[l.Input.SessionID]:
			sum.Subagents++
		case l.Input.Event.Type == "session.created":
			created[p.Info.ID], child[p.Info.ID] = p.Info.Time.Created, p.Info.ParentID != ""
		case l.Input.Event.Type == "message.updated" && p.Info.Role == "assistant":
			copied[p.Info.ID] = p.Info.Time.Created < created[p.SessionID]
			if p.Info.Error.Name == "MessageAbortedError" && !aborted[p.Info.ID] {
				aborted[p.Info.ID] = true
				sum.Aborted++
			}
			if u := p.Info.Tokens; p.Info.Finish != "" && u.Input+u.Output > 0 && !counted[p.Info.ID] && !copied[p.Info.ID] {
				counted[p.Info.ID] = true
				sum.Calls++
				sum.Input += u.Input + u.Cache.Read + u.Cache.Write
				sum.Output += u.Output + u.Reasoning
				sum.Cached += u.Cache.Read
				sum.Cost += p.Info.Cost
			}
		case l.Input.Event.Type == "message.part.updated" && p.Part.Type == "tool":
			if was, known := copied[p.Part.MessageID]; known && !was && !counted[p.Part.ID] {
				counted[p.Part.ID] = true
				sum.Tools++
			}
		}
	}
	return sum
}

func TestEveryCallToolAndSubagentIsOneRunWithItsTokensOnce(t *testing.T) {
	for _, dir := range recordings(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			want := count(t, dir)
			var got tally
			interrupted := 0
			for _, run := range play(t, dir, replay.Options{}).Runs {
				stopped := run.Metadata()["ls_is_error_interrupt"] == true
				switch run.Kind() {
				case runtypes.KindLLM:
					var usage struct {
						Input  int64   `json:"input_tokens"`
						Output int64   `json:"output_tokens"`
						Cost   float64 `json:"total_cost"`
						Detail struct {
							Read int64 `json:"cache_read"`
						} `json:"input_token_details"`
					}
					raw, err := json.Marshal(run.Metadata()["usage_metadata"])
					if err != nil || json.Unmarshal(raw, &usage) != nil {
						t.Fatalf("usage %s: %v", raw, err)
					}
					if usage.Input+usage.Output == 0 {
						break
					}
					got.Calls++
					got.Input += usage.Input
					got.Output += usage.Output
					got.Cached += usage.Detail.Read
					got.Cost += usage.Cost
				case runtypes.KindTool:
					got.Tools++
				case runtypes.KindSubagent:
					got.Subagents++
					if stopped {
						interrupted++
					}
				case runtypes.KindInterrupted:
					interrupted++
				}
			}
			got.Aborted = want.Aborted
			if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })); diff != "" {
				t.Errorf("counts (-recorded +traced):\n%s", diff)
			}
			if interrupted < want.Aborted {
				t.Errorf("%d interrupted turns for %d that the user stopped", interrupted, want.Aborted)
			}
		})
	}
}
