package drain

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/procid"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Config says what a drainer works with. The zero value of a duration or a
// number is its default.
type Config struct {
	State        *journal.State
	Agents       func(name string) *integrations.Agent // nil: no such agent
	Destinations []Destination

	// Shape, Redact and Remote are called for several destinations at once.

	// Shape adds to a run what the user's settings say, or takes it away, before
	// it is redacted. Nil: nothing. The run's maps and slices may be shared.
	Shape func(*runtypes.Run)
	// Admits reports whether a turn may go to a destination that its hooks did not
	// name, because they knew of none. Nil: it may.
	Admits func(root *runtypes.Run, destination string) bool
	// Redact takes the secrets out of a run; an error drops the run. There is
	// no default: nothing leaves unredacted.
	Redact func(*runtypes.Run) error
	// Restraint tells what Shape and the destinations hide beside secrets. Turns whose
	// hooks were told to hide something else go without content.
	Restraint string
	// Plain leaves redaction out for turns whose hooks were told so too.
	Plain bool
	// Remote looks up the remote of the repository that holds a directory,
	// without credentials; empty if there is none.
	Remote func(ctx context.Context, dir string) string
	// Reducer is what the user chose of how runs are built.
	Reducer integrations.Options
	// Settled holds back the post of a run that has not ended, so that every run
	// is written once. Otherwise a long turn can be watched.
	Settled bool
	// Insist tries a destination even while it is to be left alone, because
	// somebody asked for it.
	Insist bool

	Linger   time.Duration // how long to wait for more after the last new line: 10 s
	Poll     time.Duration // how often to look meanwhile, at first: 50 ms
	Idle     time.Duration // how long an agent's last lines may take to appear: 2 s
	Grace    time.Duration // how long hooks may outlive the agent: 1 s
	Adopt    time.Duration // how long a session is left to its own drainer: 5 s
	MaxOps   int           // ops of one export: 200
	MaxBytes int           // and their bytes, about: 4 MiB
	Keep     time.Duration // how long an idle or undelivered session is kept: DefaultKeep
	MaxTotal int64         // bytes of all sessions: DefaultMaxTotal

	Log  *slog.Logger            // nil: none
	Now  func() time.Time        // nil: time.Now
	Gone func(journal.Proc) bool // nil: ask the system
}

// What a drainer keeps of sessions unless it is told otherwise.
const (
	DefaultKeep           = 7 * 24 * time.Hour
	DefaultMaxTotal int64 = 256 << 20
)

// Drainer delivers sessions: one call of Run, Deliver or All is its life. A
// destination that fails is not tried again in that life.
type Drainer struct {
	cfg          Config
	state        *journal.State
	destinations []Destination
	live         bool
	log          *slog.Logger
	now          func() time.Time
	since        map[string]time.Time // by destination, once registered
	down         *problems            // destinations that could not be served
	broken       error                // of those that cannot be used at all
}

// New checks a configuration and fills in its defaults.
func New(cfg Config) (*Drainer, error) {
	switch {
	case cfg.State == nil:
		return nil, errors.New("drain: no state")
	case cfg.Agents == nil:
		return nil, errors.New("drain: no agents")
	case cfg.Redact == nil:
		return nil, errors.New("drain: no redaction")
	}
	fill(&cfg.Linger, 10*time.Second)
	fill(&cfg.Poll, 50*time.Millisecond)
	fill(&cfg.Idle, 2*time.Second)
	fill(&cfg.Grace, time.Second)
	fill(&cfg.Adopt, 5*time.Second)
	fill(&cfg.MaxOps, 200)
	fill(&cfg.MaxBytes, 4<<20)
	fill(&cfg.Keep, DefaultKeep)
	fill(&cfg.MaxTotal, DefaultMaxTotal)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Gone == nil {
		cfg.Gone = func(p journal.Proc) bool { return procid.Gone(p.PID, p.Start, p.Boot) }
	}
	return &Drainer{
		cfg: cfg, state: cfg.State, destinations: cfg.Destinations, live: !cfg.Settled,
		log: cfg.Log, now: cfg.Now, since: map[string]time.Time{}, down: newProblems(),
	}, nil
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (d *Drainer) remote(ctx context.Context, dir string) string {
	if d.cfg.Remote == nil {
		return ""
	}
	return d.cfg.Remote(ctx, dir)
}

// Run is the life of a drainer that a hook started: it delivers the session and
// lingers for more, then adopts other sessions that nobody looks after, then
// removes what is no longer needed.
func (d *Drainer) Run(ctx context.Context, key string) error {
	s, err := d.state.Keyed(key)
	if err != nil {
		return err
	}
	d.registerAll([]*journal.Session{s})
	err = d.drain(ctx, s, d.cfg.Linger, false)
	return errors.Join(d.broken, err, d.adopt(ctx, s.Key(), d.cfg.Adopt, false), d.Collect(ctx))
}

// Deliver delivers what a session holds and returns. With wait, as for a hook
// that ends a turn, a drainer that is at work is waited for.
func (d *Drainer) Deliver(ctx context.Context, key string, wait bool) error {
	s, err := d.state.Keyed(key)
	if err != nil {
		return err
	}
	d.registerAll([]*journal.Session{s})
	return errors.Join(d.broken, d.drain(ctx, s, 0, wait))
}

// All delivers what all sessions hold and returns. With wait, drainers that are
// at work are waited for.
func (d *Drainer) All(ctx context.Context, wait bool) error {
	sessions, _ := d.state.Sessions() // what cannot be read is said by adopt
	d.registerAll(sessions)
	return errors.Join(d.broken, d.adopt(ctx, "", 0, wait), d.Collect(ctx))
}

// registerAll notes since when each destination is configured. One of which that
// cannot be noted is left out.
func (d *Drainer) registerAll(sessions []*journal.Session) {
	var oldest time.Time
	for _, s := range sessions {
		at, err := firstUntaken(s)
		if err != nil {
			continue // said where the session is drained
		}
		if !at.IsZero() && (oldest.IsZero() || at.Before(oldest)) {
			oldest = at
		}
	}
	for _, dest := range d.destinations {
		since, err := d.register(dest, oldest)
		if err != nil {
			d.leaveOut(dest, err)
			continue
		}
		d.since[dest.ID] = since
		d.check(dest)
	}
}

// firstUntaken is when the first entry was made that no destination has taken.
func firstUntaken(s *journal.Session) (time.Time, error) {
	checkpoints, err := s.Checkpoints()
	if errors.Is(err, journal.ErrVersion) {
		return time.Time{}, nil // another version has taken them
	}
	if err != nil {
		return time.Time{}, err
	}
	taken := journal.Positions{}
	for _, c := range checkpoints {
		for name, position := range c.Positions {
			taken[name] = max(taken[name], position)
		}
	}
	sizes, err := s.Sizes()
	if err != nil {
		return time.Time{}, err
	}
	for record, err := range s.Read(taken, sizes) {
		if err != nil {
			return time.Time{}, err
		}
		if record.Entry.Event != "" { // else half a line, or a fence
			return record.Entry.At, nil
		}
	}
	return time.Time{}, nil
}
