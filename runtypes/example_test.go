package runtypes_test

import (
	"fmt"

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
