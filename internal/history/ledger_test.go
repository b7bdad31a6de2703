package history

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/integrations"
	claudecode "github.com/tracesmith/tracesmith/integrations/claude-code"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// capture records and delivers a recording as hooks and a drainer do.
func capture(t *testing.T, state *journal.State, s *replay.Stage, to ...drain.Destination) {
	t.Helper()
	agent := claudecode.Agent()
	for i, step := range s.Steps {
		if err := s.Show(i); err != nil {
			t.Fatal(err)
		}
		payload := integrations.Payload{Body: step.Body, Env: func(string) string { return "" }, Exists: exists}
		route, err := agent.Peek(payload)
		if err != nil {
			t.Fatal(err)
		}
		if _, registered := agent.Hook(route.Event); !registered {
			continue
		}
		kept, err := agent.Project(payload)
		if err != nil {
			t.Fatal(err)
		}
		err = state.Session(agent.Name, route.Session).Append(journal.Entry{
			At: step.At, Event: route.Event, CWD: route.CWD, Data: kept, Proc: journal.Proc{PID: 7, Start: "1", Boot: "b"},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.ShowAll(); err != nil {
		t.Fatal(err)
	}
	d, err := drain.New(drain.Config{
		State: state, Destinations: to, Redact: redact.Run,
		Agents: func(string) *integrations.Agent { return agent },
		Gone:   func(journal.Proc) bool { return true },
		Linger: time.Nanosecond, Poll: time.Millisecond, Idle: time.Millisecond, Grace: time.Nanosecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.All(t.Context(), true); err != nil {
		t.Fatal(err)
	}
}

func TestImportAfterLiveCaptureSendsNothing(t *testing.T) {
	for _, name := range recordings(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, state, to := stage(t, name), openState(t), newServer()
			capture(t, state, s, to.destination("one"))
			captured := to.ops
			if captured == 0 {
				t.Fatal("live capture sent nothing")
			}
			report := mustImport(t, config(t, state, s.Home, to.destination("one")))
			if to.ops != captured || report.Total().New != 0 || len(report.Left) != 0 {
				t.Errorf("the import sent %d runs: %+v", to.ops-captured, report)
			}
		})
	}
}

func TestImportFillsADestinationThatLiveCaptureDidNotKnow(t *testing.T) {
	s, state, old, fresh := stage(t, "resume-and-fork"), openState(t), newServer(), newServer()
	capture(t, state, s, old.destination("old"))
	captured := old.ops
	capturedRuns := len(old.runs)
	// The hooks' journals are still there, so that the new destination seems to
	// wait for them; a drainer looks and finds nothing that is for it.
	d, err := drain.New(drain.Config{
		State: state, Redact: redact.Run,
		Destinations: []drain.Destination{{ID: "fresh", Name: "fresh", Export: drain.Plain(fresh.export)}},
		Agents:       func(string) *integrations.Agent { return claudecode.Agent() },
		Gone:         func(journal.Proc) bool { return true },
		Idle:         time.Millisecond, Grace: time.Nanosecond, Poll: time.Millisecond,
		Now: func() time.Time { return time.Now().Add(24 * time.Hour) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if report := mustImport(t, config(t, state, s.Home, fresh.destination("fresh"))); report.Left[LeftWaiting] != 2 {
		t.Errorf("sessions that wait for a drainer were not left to it: %+v", report)
	}
	if err := d.All(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if fresh.ops != 0 {
		t.Fatalf("the drainer sent %d runs of the past", fresh.ops)
	}
	report := mustImport(t, config(t, state, s.Home, old.destination("old"), fresh.destination("fresh")))
	if old.ops != captured || len(fresh.runs) != capturedRuns {
		t.Errorf("old got %d more, fresh has %d of %d runs: %+v", old.ops-captured, len(fresh.runs), capturedRuns, report)
	}
}

func TestSecondImportSendsNothing(t *testing.T) {
	s, state, to := stage(t, "nested-subagents"), openState(t), newServer()
	if err := s.ShowAll(); err != nil {
		t.Fatal(err)
	}
	first := mustImport(t, config(t, state, s.Home, to.destination("one")))
	sent := to.ops
	second := mustImport(t, config(t, state, s.Home, to.destination("one")))
	if sent == 0 || to.ops != sent {
		t.Errorf("the first import sent %d runs, the second %d", sent, to.ops-sent)
	}
	if a, b := first.Total(), second.Total(); a.Turns != b.Turns || b.New != 0 || b.Runs != 0 {
		t.Errorf("first %+v, second %+v", a, b)
	}
}

// What a destination refused it has not got: once it takes it, the next import brings it.
func TestImportOfWhatWasRefusedSaysSoAndMayBeRepeated(t *testing.T) {
	s, state, to := stage(t, "nested-subagents"), openState(t), newServer()
	if err := s.ShowAll(); err != nil {
		t.Fatal(err)
	}
	refused := func(runtypes.Op) bool { return true }
	dest := to.destination("one")
	dest.Export = func(_ context.Context, ops []runtypes.Op) (got exporter.Receipt, err error) {
		for _, op := range ops {
			if refused(op) {
				got.Dropped = append(got.Dropped, op)
			} else {
				to.take(op)
			}
		}
		return got, nil
	}
	report := mustImport(t, config(t, state, s.Home, dest))
	all := report.Total().Runs
	if sent := report.Sent[0]; sent.Turns != 0 || sent.Runs != 0 || sent.Refused != all || all == 0 {
		t.Errorf("all of %d runs refused: %+v", all, sent)
	}
	tools := 0
	refused = func(op runtypes.Op) bool {
		tool := op.Run.Kind == runtypes.KindTool
		if tool {
			tools++
		}
		return tool
	}
	report = mustImport(t, config(t, state, s.Home, dest))
	if sent := report.Sent[0]; sent.Turns != 1 || sent.Runs != all-tools || sent.Refused != tools || len(to.runs) != all-tools || tools == 0 {
		t.Errorf("%d tools of %d runs refused, %d there: %+v", tools, all, len(to.runs), sent)
	}
	if report = mustImport(t, config(t, state, s.Home, dest)); report.Total().New != 0 {
		t.Errorf("sent once more: %+v", report)
	}
}

var errDown = errors.New("server is down")

// Wherever an import is cut off, the next one completes it.
func TestImportGoesOnWhereItFailed(t *testing.T) {
	s := stage(t, "nested-subagents")
	if err := s.ShowAll(); err != nil {
		t.Fatal(err)
	}
	whole := newServer()
	mustImport(t, config(t, openState(t), s.Home, whole.destination("one")))
	for cut := range whole.ops {
		state, to, other := openState(t), newServer(), newServer()
		to.fail = func(runtypes.Op) error {
			if to.ops == cut {
				return errDown
			}
			return nil
		}
		cfg := config(t, state, s.Home, to.destination("one"), other.destination("other"))
		cfg.MaxOps = 2
		i, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		report, err := i.Run(t.Context())
		if !errors.Is(err, errDown) || report.Sent[0].Error == "" || report.Sent[0].Turns != 0 {
			t.Errorf("cut at %d: %v, %+v", cut, err, report)
		}
		if len(other.runs) != len(whole.runs) {
			t.Errorf("cut at %d: the other destination has %d of %d runs", cut, len(other.runs), len(whole.runs))
		}
		to.fail = nil
		mustImport(t, cfg)
		if len(to.runs) != len(whole.runs) || other.again != 0 {
			t.Errorf("cut at %d: %d of %d runs in the end, %d sent twice elsewhere", cut, len(to.runs), len(whole.runs), other.again)
		}
	}
}

func TestImportThatIsCancelledKeepsWhatIsDone(t *testing.T) {
	s := stage(t, "resume-and-fork") // two sessions
	if err := s.ShowAll(); err != nil {
		t.Fatal(err)
	}
	state, to := openState(t), newServer()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg := config(t, state, s.Home, to.destination("one"))
	cfg.Progress = func(p Progress) {
		if p.Sessions == 1 {
			cancel()
		}
	}
	i, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	report, err := i.Run(ctx)
	if !errors.Is(err, context.Canceled) || report.Total().Sessions != 1 {
		t.Fatalf("%v, %+v", err, report)
	}
	done := to.ops
	cfg.Progress = nil
	mustImport(t, cfg)
	if to.again != 0 || to.ops == done {
		t.Errorf("%d runs were sent twice, %d after the cancel", to.again, to.ops-done)
	}
}

func TestTwoImportsAtOnceAreRefused(t *testing.T) {
	state := openState(t)
	lock, err := state.TryImport()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	i, err := New(config(t, state, t.TempDir(), newServer().destination("one")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Run(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("a second import ended with %v", err)
	}
}

func TestRedactionFailsClosed(t *testing.T) {
	s, state, to := stage(t, "plain"), openState(t), newServer()
	if err := s.ShowAll(); err != nil {
		t.Fatal(err)
	}
	cfg := config(t, state, s.Home, to.destination("one"))
	cfg.Redact = func(r *runtypes.Run) error {
		if r.ParentID != uuid.Nil {
			return errors.New("secret")
		}
		return nil
	}
	report := mustImport(t, cfg)
	if len(to.runs) != 1 || report.Lost[journal.DropRedaction] == 0 {
		t.Errorf("%d runs left, %+v", len(to.runs), report)
	}
	if drops, err := state.Drops(); err != nil || drops[journal.DropRedaction] == 0 {
		t.Errorf("the loss is not counted: %v, %v", drops, err)
	}
}
