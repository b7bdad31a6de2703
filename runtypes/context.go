package runtypes

import (
	"context"
	"fmt"
	"reflect"
	"time"
)

// turnKey is what a context keeps its turn under.
type turnKey struct{}

// NewContext returns a context that carries the turn, for code that is called far
// below or in another goroutine: see [FromContext]. A nil turn gives ctx itself.
func NewContext(ctx context.Context, t *Turn) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, turnKey{}, t)
}

// FromContext returns what runs belong under: the turn of ctx, or the subagent or
// the call whose Context it is. It is nil, and so are the children it gives, where
// ctx carries none. Whoever started it ends it, not the one that finds it here.
func FromContext(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}

// Context returns a context in which runs go under this call: for a tool that
// starts a subagent, asks a model or calls a server that joins the trace.
func (c *Child) Context(ctx context.Context) context.Context {
	return NewContext(ctx, (*Turn)(c))
}

// grace is how long what is open has to end by itself once its turn is cancelled:
// the half of an answer that a model gave comes from whoever reads it.
const grace = time.Second

// Begin starts a turn as [StartTurn] does and ties it to ctx: once ctx is
// cancelled, the turn ends as interrupted, with the context's cause as the reason,
// however it is ended and with the answer it is ended with, if any. What has not
// ended a second later, the turn or what is open under it, ends then. The context
// that Begin returns carries the turn.
func Begin(ctx context.Context, s Sink, id Identity, prompt any, opts ...TurnOption) (context.Context, *Turn) {
	if s == nil {
		return ctx, nil
	}
	t := startTurn(s, id, prompt, opts)
	t.cause = func() error { return context.Cause(ctx) }
	unbind := context.AfterFunc(ctx, t.stop)
	t.mu.Lock()
	t.unbind = unbind
	t.mu.Unlock()
	return NewContext(ctx, t), t
}

// RunTurn is a whole turn: it begins one, calls f and ends the turn by what f does. An
// answer ends it, an error fails it, a cancelled context interrupts it whatever f
// returns, and a panic fails it and goes on. An answer beside an error is kept, unless
// it is a zero value. What f returns is returned.
func RunTurn[T any](ctx context.Context, s Sink, id Identity, prompt any, f func(context.Context, *Turn) (T, error), opts ...TurnOption) (T, error) {
	ctx, t := Begin(ctx, s, id, prompt, opts...)
	defer t.Guard(ctx)
	answer, err := f(ctx, t)
	switch {
	case t == nil:
	case err != nil && reflect.ValueOf(&answer).Elem().IsZero():
		t.fail(err)
	default:
		t.Done(answer, err)
	}
	return answer, err
}

// Guard ends a turn that its function leaves open, and is deferred by it:
//
//	defer turn.Guard(ctx)
//
// A panic fails the turn and goes on. If ctx was cancelled the turn was
// interrupted, with the context's cause; else it ended without an answer.
func (t *Turn) Guard(ctx context.Context) {
	if t == nil {
		return
	}
	if p := recover(); p != nil {
		t.finish(nil, fmt.Errorf("panic: %v", p), "")
		panic(p)
	}
	t.leave(ctx)
}

// Guard ends a call that its function leaves open, as [Turn.Guard] does.
func (c *Child) Guard(ctx context.Context) {
	if c == nil {
		return
	}
	if p := recover(); p != nil {
		c.finish(nil, fmt.Errorf("panic: %v", p), "")
		panic(p)
	}
	c.leave(ctx)
}

func (s *scope) leave(ctx context.Context) {
	if ctx.Err() != nil {
		s.finish(nil, nil, fmt.Sprint(context.Cause(ctx)))
		return
	}
	s.finish(nil, nil, "ended without an answer")
}
