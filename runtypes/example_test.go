package runtypes_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/tracesmith/tracesmith/runtypes"
)

// printer stands for a real sink, such as exporter.Batcher.
type printer struct{}

func (printer) Submit(op runtypes.Op) error {
	fmt.Println(op.Verb, op.Run.Kind, op.Run.Name)
	return nil
}

func ExampleStartTurn() {
	turn := runtypes.StartTurn(printer{}, runtypes.Identity{
		Integration: "my-agent", Runtime: "My Agent", ThreadID: "conversation-7",
	}, "What is in main.go?")

	call := turn.LLM("claude-opus-4-5", "What is in main.go?")
	call.Usage(runtypes.Usage{Input: 120, Output: 20}).End("I will read it.")

	tool := turn.Tool("read", "call-1", map[string]string{"path": "main.go"})
	tool.End("package main")

	turn.End("It is an empty program.")
	// Output:
	// post root My Agent Turn
	// post llm My Agent
	// post tool read
	// patch root My Agent Turn
}

// A whole turn: an answer ends it, an error fails it, a cancelled context
// interrupts it, a panic fails it and goes on.
func ExampleRunTurn() {
	id := runtypes.Identity{Integration: "my-agent", Runtime: "My Agent", ThreadID: "conversation-7"}
	answer, err := runtypes.RunTurn(context.Background(), printer{}, id, "What is in main.go?",
		func(ctx context.Context, turn *runtypes.Turn) (string, error) {
			return read(ctx, "main.go")
		})
	fmt.Println(answer, err)
	// Output:
	// post root My Agent Turn
	// post tool read
	// patch root My Agent Turn
	// an empty program <nil>
}

// read is code far below the turn, which it finds in its context.
func read(ctx context.Context, path string) (string, error) {
	tool := runtypes.FromContext(ctx).Tool("read", "", map[string]string{"path": path})
	text := "an empty program"
	tool.Done(text, nil)
	return text, nil
}

// A tool call that starts another agent.
func ExampleChild_Subagent() {
	turn := runtypes.StartTurn(printer{}, runtypes.Identity{
		Integration: "my-agent", Runtime: "My Agent", ThreadID: "conversation-7",
	}, "Look around.")
	task := turn.Tool("task", "call-1", map[string]string{"agent": "researcher"})
	researcher := task.Subagent("researcher", "", "What is here?")
	researcher.Tool("ls", "", nil).End("main.go")
	researcher.End("One file.")
	task.End("One file.")
	turn.End("There is one file.")
	// Output:
	// post root My Agent Turn
	// post tool ls
	// post subagent researcher Subagent
	// post tool task
	// patch root My Agent Turn
}

// A trace goes to another program in the headers of a request.
func ExampleExtract() {
	turn := runtypes.StartTurn(printer{}, runtypes.Identity{
		Integration: "my-agent", Runtime: "My Agent", ThreadID: "conversation-7",
	}, "Count.")
	tool := turn.Tool("count", "", nil)
	header := http.Header{}
	tool.Inject(header)

	// There:
	parent, ok := runtypes.Extract(header)
	there := runtypes.StartTurn(printer{}, runtypes.Identity{}, "count", runtypes.WithParent(parent), runtypes.WithName("counter"))
	there.End("3")
	fmt.Println(ok, there.TraceID() == turn.TraceID())

	tool.End("3")
	turn.End("Three.")
	// Output:
	// post root My Agent Turn
	// post chain counter
	// patch chain counter
	// true true
	// post tool count
	// patch root My Agent Turn
}

// Validate says what the runs of an agent break of the contract.
func ExampleValidate() {
	recorder := &runtypes.Recorder{}
	turn := runtypes.StartTurn(recorder, runtypes.Identity{ThreadID: "conversation-7"}, "Hello")
	turn.End("Hi.")
	runs, err := recorder.Runs()
	if err != nil {
		fmt.Println(err)
	}
	for _, v := range runtypes.Validate(runs) {
		fmt.Println(v.Kind, v.Key, v.Tier, v.Found)
	}
	// Output:
	// root ls_integration always missing
	// root ls_agent_runtime always missing
}
