package relay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

// While a turn goes on the client has a model name the thread: recorded with 0.1.88.
func TestATitleIsAModelCallOfNoTurn(t *testing.T) {
	const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
	b := newBench(t, ingest.Config{}).start()
	s, own := newStory("thread", "turn-1", 1), newStory("thread", "x-0", 1)
	turn := s.run(nil, "agent", "chain", nil)
	own.at = s.at
	title := own.run(nil, "thread-title", "llm", nil)
	title["inputs"] = map[string]any{"messages": []any{map[string]any{"role": "user", "content": "human: my key is " + secret}}}
	title["extra"] = map[string]any{"metadata": map[string]any{
		"thread_id": "thread", "ls_integration": "langchain_chat_model", "ls_model_name": "claude-sonnet-4-6", "ls_provider": "anthropic",
		"deepagents_code_configured_model": "claude-sonnet-4-6", "usage_metadata": map[string]any{"input_tokens": 10, "output_tokens": 2},
	}}
	b.post(begin(turn))
	b.post(begin(title))
	b.post(own.end(title, map[string]any{"text": "Widgets"}, ""), s.end(turn, says("ok"), ""))
	second := newStory("thread", "turn-2", 2)
	after := second.run(nil, "agent", "chain", nil)
	b.post(begin(after), second.end(after, says("ok"), ""))
	runs := b.await("the turns and the title", whole(3))
	check(t, runs)
	if got, want := outline(runs), "root agent\nllm thread-title\nroot agent\n"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	var numbers []any
	for _, w := range runs {
		numbers = append(numbers, w.Metadata()["turn_number"])
		if strings.Contains(string(w.Inputs), secret) {
			t.Error("a secret was delivered")
		}
	}
	if got, want := fmt.Sprint(numbers), "[1 <nil> 2]"; got != want {
		t.Errorf("turn numbers %s, want %s", got, want)
	}
}

func TestALongTurnIsRememberedInLittle(t *testing.T) {
	src, turn := &told{}, newTurn()
	s := newStory("thread", "turn-1", 1)
	posts, patches := 0, 0
	apply := func(list ...native) {
		for _, each := range list {
			raw, err := json.Marshal(map[string]any{"number": 1, "run": each.run})
			if err != nil {
				t.Fatal(err)
			}
			ops, err := turn.Apply(src, integrations.Event{Kind: string(each.verb), Data: raw})
			if err != nil {
				t.Fatal(err)
			}
			for _, op := range ops {
				if op.Verb == runtypes.Post {
					posts++
				} else {
					patches++
				}
				if op.Run.Kind == runtypes.KindTool && strings.Count(op.Run.DottedOrder, ".") != 1 {
					t.Fatalf("a tool stands at %s", op.Run.DottedOrder)
				}
			}
		}
	}
	root := s.run(nil, "agent", "chain", nil)
	apply(begin(root))
	const rounds = 500
	for range rounds {
		apply(s.model(root, nil)...)
		node := s.run(root, "tools", "chain", nil)
		tool := s.run(node, "execute", "tool", nil)
		apply(begin(node), begin(tool), s.end(tool, map[string]any{"output": "x"}, ""), s.end(node, nil, ""))
	}
	if state, err := json.Marshal(turn); err != nil || len(state) > 48<<10 || len(turn.Open) != 1 {
		t.Errorf("the state has %d bytes and %d open runs, %v", len(state), len(turn.Open), err)
	}
	if posts != 1+2*rounds || patches != 2*rounds {
		t.Errorf("%d posts and %d patches", posts, patches)
	}
}

func TestATurnsNumberFitsEveryMachinesInt(t *testing.T) {
	for said, want := range map[string]int{"7": 7, "2147483647": 1<<31 - 1, "2147483648": 0, "-1": 0, "1.5": 0} {
		if got := number(map[string]any{"turn_number": json.Number(said)}); got != want {
			t.Errorf("%s: %d", said, got)
		}
	}
}
