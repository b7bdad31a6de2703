package history

import (
	"errors"
	"log/slog"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Config says what is imported, and to where. The zero value of a duration, a number
// or a function is its default.
type Config struct {
	State        *journal.State
	Agent        *integrations.Agent
	Destinations []drain.Destination

	Place integrations.Place // where the agent keeps its files; its Path does not count
	Paths []string           // the files and folders to look in; none: the agent's own place
	Since time.Time          // turns that began before are left out

	// DryRun finds out what would be sent and changes nothing.
	DryRun bool

	// Wanted says whether turns in a folder are traced at all; nil: everywhere.
	Wanted func(dir string) bool
	// Shape adds to a run what the user's settings say, or takes it away, before
	// it is redacted; nil: nothing. The run's maps and slices may be shared.
	Shape func(*runtypes.Run)
	// Redact takes the secrets out of a run; an error drops the run. There is
	// no default: nothing leaves unredacted.
	Redact func(*runtypes.Run) error
	// Reducer is what the user chose of how runs are built.
	Reducer integrations.Options

	// Progress is told how far the import is, after each export and each session.
	Progress func(Progress)

	MaxOps   int // runs of one export: 200
	MaxBytes int // and their bytes, about: 8 MiB

	Log   *slog.Logger                 // nil: none
	Now   func() time.Time             // nil: time.Now
	Alive func(integrations.Proc) bool // nil: ask the system
}

// New checks a configuration and fills in its defaults.
func New(cfg Config) (*Import, error) {
	switch {
	case cfg.State == nil:
		return nil, errors.New("history: no state")
	case cfg.Agent == nil || cfg.Agent.Past == nil:
		return nil, errors.New("history: the agent keeps no sessions that can be read")
	case cfg.Redact == nil:
		return nil, errors.New("history: no redaction")
	case len(cfg.Destinations) == 0:
		return nil, errors.New("history: no destination")
	}
	if cfg.MaxOps <= 0 {
		cfg.MaxOps = 200
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = 8 << 20
	}
	if cfg.Wanted == nil {
		cfg.Wanted = func(string) bool { return true }
	}
	if cfg.Shape == nil {
		cfg.Shape = func(*runtypes.Run) {}
	}
	if cfg.Progress == nil {
		cfg.Progress = func(Progress) {}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Alive == nil {
		cfg.Alive = alive
	}
	return &Import{cfg: cfg}, nil
}
