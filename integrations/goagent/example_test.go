package goagent_test

import (
	"context"
	"fmt"
	"os"

	"github.com/tracesmith/tracesmith/integrations/goagent"
	"github.com/tracesmith/tracesmith/runtypes"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "state-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	tracer, err := goagent.Open(ctx, goagent.Config{
		Integration: "my-agent", Runtime: "My Agent",
		// An agent leaves this out: the real environment holds.
		Env: func(name string) string { return map[string]string{"TRACESMITH_STATE": dir}[name] },
	})
	if err != nil {
		fmt.Println(err) // and go on: a nil Tracer is off
	}
	id := tracer.Identity(ctx, dir, "conversation-7")
	answer, err := runtypes.RunTurn(ctx, tracer.Sink(), id, "How many files are there?",
		func(_ context.Context, turn *runtypes.Turn) (string, error) {
			tool := turn.Tool("bash", "call-1", map[string]string{"command": "ls | wc -l"})
			tool.End("3")
			return "Three.", nil
		})
	fmt.Println(answer, err)
	fmt.Println(len(tracer.Where()), "destination", tracer.Close(ctx))
	// Output:
	// Three. <nil>
	// 1 destination <nil>
}
