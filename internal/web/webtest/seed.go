// Package webtest fills a store with made-up turns, for tests and benchmarks of what
// shows it.
package webtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/runtypes"
)

// RunsPerTurn is how many runs each turn of Seed has.
const RunsPerTurn = 10

// batch is how many turns are stored in one transaction.
const batch = 500

// room is a store's bound that holds what Seed makes.
const room = 8 << 30

// Open opens the store at a path, with room for many turns.
func Open(ctx context.Context, path string) (*store.Store, error) {
	return store.Open(ctx, store.Config{Path: path, MaxBytes: room, MaxAge: 10 * 365 * 24 * time.Hour})
}

// Seed stores so many turns of ten runs each, the same ones every time: a minute apart,
// the last of them just before end, in threads of ten turns, of several agents,
// repositories and branches. Every 50th failed, every 70th was interrupted, every 97th
// has the word "zebra" in its prompt.
func Seed(ctx context.Context, s *store.Store, turns int, end time.Time) error {
	g := generator{rand.New(rand.NewPCG(1, 2))} //nolint:gosec // made-up text is no secret
	var posts []runtypes.Wire
	for n := range turns {
		for _, run := range g.turn(n, end.Add(time.Duration(n-turns)*time.Minute)) {
			wire, err := runtypes.Encode(runtypes.Op{Verb: runtypes.Post, Run: run})
			if err != nil {
				return err
			}
			posts = append(posts, wire)
		}
		if (n+1)%batch == 0 || n == turns-1 {
			if err := s.Apply(ctx, posts, nil); err != nil {
				return err
			}
			posts = posts[:0]
		}
	}
	return nil
}

type generator struct{ *rand.Rand }

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

// text is so many words.
func (g generator) text(words int) string {
	list := make([]string, words)
	for i := range list {
		list[i] = g.pick("refactor", "the", "handler", "test", "fails", "parse", "header", "buffer", "config", "session",
			"retry", "timeout", "module", "import", "function", "return", "error", "value", "string", "package")
	}
	return strings.Join(list, " ")
}

func (g generator) identity(n int) runtypes.Identity {
	thread := n / 10
	agents := [][2]string{{"claude-code", "Claude Code"}, {"openai-codex", "Codex"}, {"opencode", "OpenCode"}, {"pi", "Pi"}}
	agent := agents[thread%len(agents)]
	repo := fmt.Sprintf("https://github.com/acme/repo-%d", thread%7)
	return runtypes.Identity{
		Integration: agent[0], Runtime: agent[1], RuntimeVersion: "1.2.3",
		ThreadID: fmt.Sprintf("thread-%05d", thread), TurnID: fmt.Sprintf("turn-%06d", n), TurnNumber: n%10 + 1,
		Repo:             runtypes.Repo{URL: repo, Branch: []string{"main", "fix", "feature/trace"}[thread%3]},
		WorkingDirectory: "/home/dev/repo",
	}
}

// turn is a root, five model calls and four tools.
func (g generator) turn(n int, at time.Time) []*runtypes.Run {
	who := g.identity(n)
	id := func(kind string, i int) (key []string) {
		return []string{who.Integration, who.TurnID, kind, fmt.Sprint(i)}
	}
	prompt := g.text(20 + g.IntN(60))
	if n%97 == 0 {
		prompt += " zebra"
	}
	root := runtypes.Root(idgen.Run(at, id("root", 0)...), at, who)
	root.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: prompt})
	root.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: g.text(80)})
	runs := []*runtypes.Run{root}
	clock := at
	for i := range RunsPerTurn / 2 {
		model := runtypes.Model{Name: g.pick("claude-opus-4-5", "claude-haiku-4-5", "gpt-5.2"), Provider: "acme"}
		llm := runtypes.LLM(root, idgen.Run(at, id("llm", i)...), clock.Add(time.Millisecond), model)
		llm.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: prompt}, runtypes.Message{Role: "tool", Content: g.text(100)})
		llm.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: g.text(60)})
		llm.Usage = &runtypes.Usage{Input: int64(2000 + 500*i), Output: int64(g.IntN(400)), CacheRead: int64(1500 + 400*i), Ephemeral5m: 100}
		clock = clock.Add(time.Duration(500+g.IntN(4000)) * time.Millisecond)
		runs = append(runs, runtypes.Finish(llm, clock))
		if i == RunsPerTurn/2-1 {
			break
		}
		tool := runtypes.Tool(root, idgen.Run(at, id("tool", i)...), clock.Add(time.Millisecond), g.pick("Bash", "Read", "Edit", "Grep"))
		tool.Inputs = []byte(fmt.Sprintf(`{"command":%q}`, g.text(8)))
		tool.Outputs = []byte(fmt.Sprintf(`{"output":%q}`, g.text(150)))
		if i == 1 && n%9 == 0 {
			tool.Metadata = map[string]any{"permission_wait_ms": 2500}
		}
		clock = clock.Add(time.Duration(50+g.IntN(1500)) * time.Millisecond)
		runs = append(runs, runtypes.Finish(tool, clock))
	}
	switch {
	case n%50 == 0:
		root.Error = "API Error: 529 overloaded"
		runtypes.Finish(root, clock)
	case n%70 == 0:
		runtypes.Interrupt(root, clock, "Interrupted by user")
	default:
		runtypes.Finish(root, clock)
	}
	return runs
}
