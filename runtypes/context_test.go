package runtypes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestCodeFarBelowFindsItsTurn(t *testing.T) {
	sink := &memory{}
	ctx, turn := Begin(t.Context(), sink, identity(), "x", WithClock(clock()))
	tool := turn.Tool("task", "", nil)
	done := make(chan struct{})
	go func() { // a tool that runs in a goroutine of its own
		defer close(done)
		inner := tool.Context(ctx)
		FromContext(inner).LLM("m", "summarise").End("short")
		sub := FromContext(inner).Subagent("researcher", "a1", "look")
		FromContext(NewContext(inner, sub)).Tool("read", "", nil).End("text")
		sub.End("found")
	}()
	<-done
	tool.End("ok")
	FromContext(ctx).LLM("m", "y").End("z")
	turn.End("done")

	runs := sink.final(t)
	for _, v := range Validate(runs) {
		t.Error(v)
	}
	parents := map[string]string{}
	names := map[string]string{}
	for _, r := range runs {
		names[r.ID.String()] = r.Name
	}
	for _, r := range runs {
		parents[string(r.Kind)+" "+r.Name+" "+string(r.Inputs)] = names[r.ParentID.String()]
	}
	for run, parent := range map[string]string{
		`llm Claude Code {"messages":[{"role":"user","content":"summarise"}]}`:         "task",
		`subagent researcher Subagent {"messages":[{"role":"user","content":"look"}]}`: "task",
		`tool read `: "researcher Subagent",
		`llm Claude Code {"messages":[{"role":"user","content":"y"}]}`: "Claude Code Turn",
	} {
		if got, ok := parents[run]; !ok || got != parent {
			t.Errorf("%s is under %q, want %q (all: %v)", run, got, parent, parents)
		}
	}
}

func TestAContextWithoutATurnGivesNil(t *testing.T) {
	ctx := context.Background()
	if FromContext(ctx) != nil || NewContext(ctx, nil) != ctx {
		t.Error("a turn out of nothing")
	}
	var c *Child
	if c.Context(ctx) != ctx {
		t.Error("a nil call changed the context")
	}
	if _, turn := Begin(ctx, nil, identity(), "x"); turn != nil {
		t.Error("a turn without a sink")
	}
}

func TestACancelledContextInterruptsTheTurnAndAllThatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &memory{}
		ctx, cancel := context.WithCancelCause(context.Background())
		_, turn := Begin(ctx, sink, identity(), "x")
		turn.Tool("bash", "", nil)
		turn.Subagent("researcher", "", "y").LLM("m", nil)
		cancel(errors.New("Interrupted by user"))
		synctest.Wait()
		turn.End("too late")
		runs := sink.final(t)
		if len(runs) != 4 {
			t.Fatalf("%d runs", len(runs))
		}
		for _, r := range runs {
			if r.Pending() || !r.Interrupted || r.Error != "Interrupted by user" {
				t.Errorf("%s: end %v, error %q", r.Name, r.End, r.Error)
			}
		}
		if runs[0].Kind != KindInterrupted {
			t.Errorf("the root is %s", runs[0].Kind)
		}
	})
}

// slow is a sink that takes a while for a patch.
type slow struct {
	entered chan struct{}
	written atomic.Bool
}

func (s *slow) Submit(op Op) error {
	if op.Verb == Patch {
		close(s.entered)
		time.Sleep(10 * time.Millisecond) // whoever does not wait is back before
		s.written.Store(true)
	}
	return nil
}

func TestACancelledTurnIsWrittenWhenItsFunctionReturns(t *testing.T) {
	sink := &slow{entered: make(chan struct{})}
	ctx, turn := Begin(context.Background(), sink, identity(), "x")
	go turn.Interrupt("cancelled") // by the one who saw ctx end
	<-sink.entered
	turn.Guard(ctx)
	if !sink.written.Load() {
		t.Error("Guard returned while the run was being written")
	}
}

func TestWhatIsOpenUnderACancelledTurnKeepsWhatItGaveSoFar(t *testing.T) {
	f := func(name string, cut func() (context.Context, func()), end func(context.Context, *Child, *Turn), reason string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			sink := &memory{}
			ctx, cancel := cut()
			ctx, turn := Begin(ctx, sink, identity(), "x")
			call := turn.LLM("m", nil)
			sub := turn.Subagent("researcher", "", "y")
			cancel()
			<-ctx.Done()
			synctest.Wait() // whoever waits for ctx has seen it end
			end(ctx, call, sub)
			turn.End("as far as I got")
			time.Sleep(time.Minute)
			for n, r := range sink.final(t) {
				if !r.Interrupted || r.Error != reason || !strings.Contains(string(r.Outputs), "as far as I got") {
					t.Errorf("%s: run %d: error %q, interrupted %v, outputs %s", name, n, r.Error, r.Interrupted, r.Outputs)
				}
			}
		})
	}
	escape := func() (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(context.Background())
		return ctx, func() { cancel(errors.New("Interrupted by user")) }
	}
	overdue := func() (context.Context, func()) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		return ctx, func() {
			<-ctx.Done()
			cancel()
		}
	}
	done := func(err func(context.Context) error) func(context.Context, *Child, *Turn) {
		return func(ctx context.Context, call *Child, sub *Turn) {
			call.Done("as far as I got", err(ctx))
			sub.Done("as far as I got", err(ctx))
		}
	}
	contexts := done(func(ctx context.Context) error { return fmt.Errorf("ask: %w", ctx.Err()) })
	killed := done(func(context.Context) error { return errors.New("signal: killed") })
	f("cancelled", escape, contexts, "Interrupted by user")
	f("killed", escape, killed, "Interrupted by user")
	f("overdue", overdue, contexts, "context deadline exceeded")
	f("overdue and killed", overdue, killed, "context deadline exceeded")
}

func TestWhatDoesNotEndByItselfEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &memory{}
		ctx, cancel := context.WithCancel(context.Background())
		_, turn := Begin(ctx, sink, identity(), "x")
		call := turn.LLM("m", nil)
		at := time.Now()
		cancel()
		time.Sleep(time.Minute)
		call.End("too late")
		turn.End("too late")
		for _, r := range sink.final(t) {
			if !r.Interrupted || r.Outputs != nil || r.End.Sub(at) > grace {
				t.Errorf("%s: interrupted %v after %v, outputs %s", r.Name, r.Interrupted, r.End.Sub(at), r.Outputs)
			}
		}
	})
}

func TestAnEndedTurnLetsGoOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &memory{}
		ctx, cancel := context.WithCancel(context.Background())
		_, turn := Begin(ctx, sink, identity(), "x")
		turn.End("y")
		cancel()
		synctest.Wait()
		if r := sink.final(t)[0]; r.Interrupted || r.Error != "" {
			t.Errorf("%+v", r)
		}
	})
}

func TestRunTurnEndsItByWhatTheBodyDoes(t *testing.T) {
	f := func(name string, body func(context.Context, *Turn) (string, error), kind Kind, failure, output string) {
		t.Helper()
		sink := &memory{}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		func() {
			defer func() {
				if p := recover(); (p != nil) != strings.HasPrefix(failure, "panic") {
					t.Errorf("%s: panic %v", name, p)
				}
			}()
			_, _ = RunTurn(ctx, sink, identity(), "x", func(inner context.Context, turn *Turn) (string, error) {
				if name == "cancelled" {
					cancel()
				}
				return body(inner, turn)
			})
		}()
		r := sink.final(t)[0]
		if r.Kind != kind || r.Error != failure || string(r.Outputs) != output || r.Pending() {
			t.Errorf("%s: %s, error %q, outputs %s, end %v", name, r.Kind, r.Error, r.Outputs, r.End)
		}
	}
	f("answer", func(context.Context, *Turn) (string, error) { return "42", nil },
		KindRoot, "", `{"messages":[{"role":"assistant","content":"42"}]}`)
	f("error", func(context.Context, *Turn) (string, error) { return "", errors.New("no model") }, KindRoot, "no model", "")
	f("cancelled", func(ctx context.Context, _ *Turn) (string, error) { return "", fmt.Errorf("ask: %w", ctx.Err()) },
		KindInterrupted, "context canceled", "")
	f("cancelled", func(context.Context, *Turn) (string, error) { return "42", nil }, // and none the wiser
		KindInterrupted, "context canceled", `{"messages":[{"role":"assistant","content":"42"}]}`)
	f("error and answer", func(context.Context, *Turn) (string, error) { return "4", errors.New("no more") },
		KindRoot, "no more", `{"messages":[{"role":"assistant","content":"4"}]}`)
	f("panic", func(context.Context, *Turn) (string, error) { panic("boom") }, KindRoot, "panic: boom", "")
}

func TestGuardEndsWhatIsLeftOpen(t *testing.T) {
	sink := &memory{}
	func() {
		turn := StartTurn(sink, identity(), "x")
		defer turn.Guard(t.Context())
		tool := turn.Tool("bash", "", nil)
		defer tool.Guard(t.Context())
	}()
	runs := sink.final(t)
	if runs[0].Kind != KindInterrupted || runs[1].Error != "ended without an answer" {
		t.Errorf("%+v", runs)
	}

	sink = &memory{}
	func() {
		defer func() {
			if p := recover(); p != "boom" {
				t.Errorf("the panic became %v", p)
			}
		}()
		turn := StartTurn(sink, identity(), "x")
		defer turn.Guard(t.Context())
		tool := turn.Tool("bash", "", nil)
		defer tool.Guard(t.Context())
		panic("boom")
	}()
	for _, r := range sink.final(t) {
		if r.Error != "panic: boom" || r.Interrupted {
			t.Errorf("%s: %q", r.Name, r.Error)
		}
	}
	func() { // with tracing off the panic is not even looked at
		defer func() { _ = recover() }()
		var off *Turn
		defer off.Guard(t.Context())
		panic("boom")
	}()
}

func TestACancelledCallWasInterrupted(t *testing.T) {
	sink := &memory{}
	turn := StartTurn(sink, identity(), "x")
	turn.LLM("m", nil).Output("half a").Fail(fmt.Errorf("post: %w", context.Canceled))
	turn.End("y")
	r := sink.final(t)[1]
	if !r.Interrupted || !strings.Contains(string(r.Outputs), "half a") {
		t.Errorf("%+v", r)
	}
}

func TestHeadersTakeATraceAcross(t *testing.T) {
	sink := &memory{}
	id := identity()
	id.RuntimeVersion, id.ApprovalPolicy, id.SandboxType = "1.2.3", "", ""
	turn := StartTurn(sink, id, "x", WithMetadata(map[string]any{"team": "blue, \"green\""}), WithProject("p 1"))
	call := turn.Tool("search", "", nil)
	header := http.Header{}
	header.Set("baggage", "vendor=1, langsmith-project=theirs")
	call.Inject(header)
	if !strings.HasPrefix(header.Get("baggage"), "vendor=1,langsmith-metadata=") || strings.Contains(header.Get("baggage"), "theirs") {
		t.Errorf("baggage %q", header.Get("baggage"))
	}

	parent, ok := Extract(header)
	if !ok || parent.ID != call.ID() || parent.TraceID != turn.ID() || parent.Metadata["team"] != "blue, \"green\"" || parent.Project != "p 1" {
		t.Fatalf("%v %+v", ok, parent)
	}
	joined := StartTurn(sink, Identity{}, map[string]any{"q": 1}, WithParent(parent), WithName("search server"))
	joined.Tool("index", "", nil).End("hits")
	joined.End(nil)
	call.End("hits")
	turn.End("y")
	runs := sink.final(t)
	for _, v := range Validate(runs) {
		t.Error(v)
	}
	for _, r := range runs {
		if r.Identity != runs[0].Identity || r.Metadata["team"] != runs[0].Metadata["team"] || r.Project != "p 1" {
			t.Errorf("%s: %+v", r.Name, r.Identity)
		}
	}
	if r := runs[1]; r.Kind != KindChain || r.ParentID != call.ID() || r.Name != "search server" {
		t.Errorf("%+v", r)
	}
}

func TestHeadersOfStrangersAreTakenWithCare(t *testing.T) {
	turn := StartTurn(&memory{}, identity(), "x")
	good := http.Header{}
	turn.Inject(good)
	f := func(trace, baggage string, want bool) Parent {
		t.Helper()
		p, ok := Extract(http.Header{"Langsmith-Trace": {trace}, "Baggage": {baggage}})
		if ok != want {
			t.Errorf("%.80q: %v", trace, ok)
		}
		return p
	}
	order := good.Get(HeaderTrace)
	f("", good.Get(HeaderBaggage), false)
	f("nonsense", "", false)
	f(strings.ToUpper(order), "", false)
	f(order+".", "", false)
	f(strings.Repeat(order+".", 64)+order, "", false)
	f(order, strings.Repeat("x", 1<<20), true)
	f(order, "langsmith-metadata=%zz,=,;,langsmith-metadata", true)
	p := f(order, "langsmith-metadata="+escape(`{"git_repo_url":"https://u:p@h/x","git_commit_sha":"1","thread_id":"a\u0007b","turn_number":-1,`+
		`"deep":{"a":1},"long":"`+strings.Repeat("y", 2000)+`","ok":"1","approval_policy":"x"}`), true)
	if p.Identity != (Identity{}) || len(p.Metadata) != 1 || p.Metadata["ok"] != "1" {
		t.Errorf("%+v", p)
	}
}

func TestMetadataThatDoesNotFitTheHeaderStaysBehind(t *testing.T) {
	turn := StartTurn(&memory{}, identity(), "x", WithMetadata(map[string]any{"big": strings.Repeat("z", 9000)}))
	header := http.Header{}
	turn.Inject(header)
	p, ok := Extract(header)
	if !ok || p.Identity.ThreadID != identity().ThreadID || len(p.Metadata) != 0 || len(header.Get(HeaderBaggage)) > maxBaggage {
		t.Errorf("%v %+v", ok, p)
	}
}

func FuzzExtract(f *testing.F) {
	turn := StartTurn(&memory{}, identity(), "x", WithTags("t"))
	good := http.Header{}
	turn.Inject(good)
	f.Add(good.Get(HeaderTrace), good.Get(HeaderBaggage))
	f.Add("20061102T150405000000Z", "langsmith-tags=a%2Cb;p=1,langsmith-project=%20")
	f.Fuzz(func(t *testing.T, trace, baggage string) {
		p, ok := Extract(http.Header{"Langsmith-Trace": {trace}, "Baggage": {baggage}})
		if !ok {
			return
		}
		sink := &memory{}
		StartTurn(sink, identity(), "x", WithParent(p)).End("y")
		for _, v := range Validate(sink.final(t)) {
			if v.Key == "dotted_order" || v.Key == "trace_id" || v.Key == "parent_run_id" {
				t.Error(v)
			}
		}
	})
}
