package goagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/gitinfo"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/delivery"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/internal/tree"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Config is what settings do not say. The zero value of every field is usable.
type Config struct {
	Integration    string // ls_integration: my-agent
	Runtime        string // its name for people: My Agent. Empty: Integration
	RuntimeVersion string // without a v

	Dir     string                   // the folder whose project settings hold. Empty: the current one
	Project string                   // where settings name none. Empty: the integration's name
	Env     func(name string) string // Nil: os.Getenv
	Logger  *slog.Logger             // gets ids, counts and durations, never content. Nil: silence

	// OnDrop is told of every op that will not arrive at one of the destinations. It
	// must not block, and may be called from several goroutines at once.
	OnDrop func(lost []runtypes.Op, why error)
}

// Tracer delivers turns to every destination there is. It is safe for concurrent
// use, and so is a nil *Tracer, with which tracing is off.
type Tracer struct {
	who     runtypes.Identity
	project string
	to      []outlet
	where   []string
	store   *store.Store
	live    bool

	mu     sync.Mutex
	traces []uuid.UUID // the last ones
}

// maxTraces bounds the traces that WriteTrees writes.
const maxTraces = 100

// Open reads the settings and opens the destinations: the local store, unless it
// is switched off, and LangSmith, if there is a key, a login of LangSmith's command
// line (~/.langsmith/config.json) or a list of replicas. Where tracing is off
// (TRACESMITH=0) there are none and no error. The error is that of settings that
// cannot be used, or of the last destination that would not open; an agent reports
// it and goes on without a Tracer. The owner calls Close.
func Open(ctx context.Context, cfg Config) (*Tracer, error) {
	if cfg.Env == nil {
		cfg.Env = os.Getenv
	}
	if cfg.Dir == "" {
		cfg.Dir = "."
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("goagent: %w", err)
	}
	settings, err := config.Load(config.Options{Env: cfg.Env, Dir: dir})
	if err != nil {
		return nil, fmt.Errorf("goagent: settings: %w", err)
	}
	t := &Tracer{live: settings.Live, project: cmp.Or(settings.RunProject(), cfg.Project, cfg.Integration), who: runtypes.Identity{
		Integration: cfg.Integration, Runtime: cfg.Runtime, RuntimeVersion: cfg.RuntimeVersion,
	}}
	if t.who.Runtime == "" {
		t.who.Runtime = cfg.Integration
	}
	if !settings.Enabled {
		return t, nil
	}
	if settings.Store {
		err = t.keep(ctx, cfg, settings)
	}
	if settings.Delivers() && settings.Upload != config.Off {
		err = errors.Join(err, t.send(cfg, settings))
	}
	if len(t.to) == 0 && err != nil {
		return nil, fmt.Errorf("goagent: %w", err)
	}
	if err != nil && cfg.Logger != nil {
		cfg.Logger.Error("a destination is missing", "error", err.Error())
	}
	return t, nil
}

// keep opens the local store.
func (t *Tracer) keep(ctx context.Context, cfg Config, settings config.Config) error {
	dir, err := journal.DefaultDir(cfg.Env)
	if err != nil {
		return err
	}
	local, err := store.Open(ctx, store.Config{Path: filepath.Join(dir, "store", "runs.db")})
	if err != nil {
		return err
	}
	batcher, err := exporter.New(exporter.Config{
		Endpoint: storeEndpoint, HTTPClient: storeClient(local),
		Redact: prepare(t.project, settings), OnDrop: losses(cfg), Logger: cfg.Logger,
	})
	if err != nil {
		return errors.Join(err, local.Close())
	}
	t.store = local
	t.to = append(t.to, outlet{batcher, "the local store"})
	t.where = append(t.where, local.Path()+" (see: tracesmith show)")
	return nil
}

// send starts delivery to LangSmith, to each of the replicas if there are any.
func (t *Tracer) send(cfg Config, settings config.Config) error {
	to, ok, missing := delivery.Config(settings, cfg.Env)
	if !ok {
		return missing
	}
	to.Redact, to.OnDrop, to.Logger = prepare(t.project, settings), losses(cfg), cfg.Logger
	batcher, err := exporter.New(to)
	if err != nil {
		return fmt.Errorf("LangSmith: %w", err)
	}
	t.to = append(t.to, outlet{batcher, "LangSmith"})
	for _, place := range settings.Places() {
		t.where = append(t.where, place.Endpoint)
	}
	return missing
}

// Identity says who the agent is, which conversation a turn belongs to, and which
// repository it works in: dir's as it is now, so call it once a turn. It does
// nothing where tracing is off.
func (t *Tracer) Identity(ctx context.Context, dir, thread string) runtypes.Identity {
	if t == nil || len(t.to) == 0 {
		return runtypes.Identity{}
	}
	id := gitinfo.DetectIdentity(ctx, dir)
	id.Integration, id.Runtime, id.RuntimeVersion, id.ThreadID = t.who.Integration, t.who.Runtime, t.who.RuntimeVersion, thread
	return id
}

// Sink is where turns go: nil, which switches them off, if there is no destination.
func (t *Tracer) Sink() runtypes.Sink {
	if t == nil || len(t.to) == 0 {
		return nil
	}
	return t
}

// Submit hands an op to every destination and returns at once. An op that one of
// them refuses is counted there, told to OnDrop, and returned as an error.
func (t *Tracer) Submit(op runtypes.Op) error {
	if t == nil || len(t.to) == 0 {
		return nil
	}
	if op.Run == nil {
		return &runtypes.FieldError{Field: "run", Err: errors.New("missing")}
	}
	t.note(op.Run)
	if !t.live {
		if op.Verb == runtypes.Post && op.Run.Pending() {
			return nil // the patch says all that the post does
		}
		op.Verb = runtypes.Post
	}
	var failures []error
	for _, each := range t.to {
		own := *op.Run
		failures = append(failures, each.Submit(runtypes.Op{Verb: op.Verb, Run: &own}))
	}
	return errors.Join(failures...)
}

// Project is where runs go that name none themselves; empty: to that of their
// integration's name. It travels in the headers of a call, since a trace lives in one
// project: see [runtypes.Inject].
func (t *Tracer) Project() string {
	if t == nil {
		return ""
	}
	return t.project
}

// Live reports whether runs are written when they begin and again when they end, as the
// settings say. Where they are not, what has been written once cannot be amended.
func (t *Tracer) Live() bool { return t != nil && t.live }

// Where names the destinations, for people to read.
func (t *Tracer) Where() []string {
	if t == nil {
		return nil
	}
	return append([]string(nil), t.where...)
}

// patience is how long a destination that does not answer may hold an agent up.
const patience = 10 * time.Second

// patiently bounds a context that has no bound.
func patiently(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, bounded := ctx.Deadline(); bounded {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, patience)
}

// Flush waits until everything submitted before is delivered or dropped, or ctx
// ends; of a ctx without a deadline it waits ten seconds. It returns what kept a
// destination from being delivered to.
func (t *Tracer) Flush(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, stop := patiently(ctx)
	defer stop()
	var failures []error
	for _, each := range t.to {
		failures = append(failures, each.named(each.Flush(ctx)))
	}
	return errors.Join(failures...)
}

// Close delivers what is left, until ctx ends at the latest, and ends the Tracer.
// Give it a context that outlives the turn's; of one without a deadline it takes ten
// seconds, so that a server which is down does not keep an agent from ending. What is
// left then is told to OnDrop, and counted where `tracesmith status` shows it.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, stop := patiently(ctx)
	defer stop()
	var failures []error
	for _, each := range t.to {
		failures = append(failures, each.named(each.Shutdown(ctx)))
	}
	if t.store != nil {
		failures = append(failures, t.store.Close())
	}
	return errors.Join(failures...)
}

// note remembers a trace by its first run.
func (t *Tracer) note(run *runtypes.Run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Contains(t.traces, run.TraceID) {
		return
	}
	if len(t.traces) == maxTraces {
		t.traces = t.traces[1:]
	}
	t.traces = append(t.traces, run.TraceID)
}

// WriteTrees writes the turns that went through the tracer, the last hundred, as
// trees of their runs, as `tracesmith show` does. It waits until what was submitted
// has arrived. It reads the local store, and writes nothing where that is off.
func (t *Tracer) WriteTrees(ctx context.Context, w io.Writer) error {
	if t == nil || t.store == nil {
		return nil
	}
	if err := t.to[0].Flush(ctx); err != nil {
		return fmt.Errorf("goagent: trees: %w", err)
	}
	t.mu.Lock()
	traces := slices.Clone(t.traces)
	t.mu.Unlock()
	var all []runtypes.Wire
	for _, id := range traces {
		runs, err := t.store.Trace(ctx, id.String())
		if err != nil {
			return fmt.Errorf("goagent: trees: %w", err)
		}
		all = append(all, runs...)
	}
	return tree.Render(w, all, tree.Options{})
}
