package runtypes

import (
	"context"
	"errors"
	"testing"
)

// nowhere takes every op and keeps none: what is measured is the turn's own work.
type nowhere struct{}

func (nowhere) Submit(Op) error { return nil }

// sinks are tracing off and on.
func sinks() map[string]Sink { return map[string]Sink{"off": nil, "on": nowhere{}} }

var (
	benchArgs     = map[string]string{"command": "go test ./..."}
	benchMessages = &[]Message{{Role: "user", Content: "fix the bug"}}
)

func BenchmarkTurn(b *testing.B) {
	for name, sink := range sinks() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				StartTurn(sink, Identity{Integration: "a", Runtime: "A", ThreadID: "t"}, "fix the bug").End("done")
			}
		})
	}
}

func BenchmarkLLM(b *testing.B) {
	for name, sink := range sinks() {
		b.Run(name, func(b *testing.B) {
			turn := StartTurn(sink, identity(), "x")
			b.ReportAllocs()
			for b.Loop() {
				turn.LLM("claude-opus-4-5", benchMessages).End("done")
			}
		})
	}
}

func BenchmarkTool(b *testing.B) {
	for name, sink := range sinks() {
		b.Run(name, func(b *testing.B) {
			turn := StartTurn(sink, identity(), "x")
			b.ReportAllocs()
			for b.Loop() {
				turn.Tool("bash", "call-1", benchArgs).End("ok")
			}
		})
	}
}

func BenchmarkSubagent(b *testing.B) {
	for name, sink := range sinks() {
		b.Run(name, func(b *testing.B) {
			turn := StartTurn(sink, identity(), "x")
			b.ReportAllocs()
			for b.Loop() {
				turn.Subagent("researcher", "a1", "look").End("found")
			}
		})
	}
}

// A single call on a turn that is not there.
func BenchmarkOff(b *testing.B) {
	var turn *Turn
	var call *Child
	failure := errors.New("x")
	for name, f := range map[string]func(){
		"LLM":       func() { turn.LLM("m", benchMessages) },
		"Tool":      func() { turn.Tool("bash", "call-1", benchArgs) },
		"End":       func() { turn.End("done") },
		"Child.End": func() { call.End(benchArgs) },
		"Fail":      func() { call.Fail(failure) },
		"Usage":     func() { call.Usage(Usage{Input: 1}) },
		"Token":     func() { call.Token() },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}

func BenchmarkToken(b *testing.B) {
	call := StartTurn(nowhere{}, identity(), "x").LLM("m", nil)
	b.ReportAllocs()
	for b.Loop() {
		call.Token()
	}
}

func BenchmarkFromContext(b *testing.B) {
	ctx := NewContext(context.Background(), StartTurn(nowhere{}, identity(), "x"))
	b.ReportAllocs()
	for b.Loop() {
		FromContext(ctx)
	}
}
