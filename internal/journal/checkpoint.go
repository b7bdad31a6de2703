package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// maxCheckpoint bounds a checkpoint: a reducer of 64 KiB, the posts that are held
// back, and room.
const maxCheckpoint = 64 << 20

// ErrVersion says that a file was written by another version of Tracesmith. It
// is left alone.
var ErrVersion = errors.New("written by another version of tracesmith, and left alone")

// Checkpoint is how far one destination has got with one session. Replacing it
// is the commit of everything it says.
type Checkpoint struct {
	Version   int             `json:"version"`
	Session   string          `json:"session"` // the agent's session id
	Positions Positions       `json:"positions,omitempty"`
	Reducer   json.RawMessage `json:"reducer,omitempty"` // the reducer's own state
	Status    Status          `json:"status"`            // what it waits for
	Seen      Positions       `json:"seen,omitempty"`    // sizes of the agent's files when it last looked
	Last      time.Time       `json:"last,omitzero"`     // when the newest entry was made
	CWD       string          `json:"cwd,omitempty"`     // its working directory
	Proc      Proc            `json:"proc,omitzero"`     // the agent's process
	Dead      bool            `json:"dead,omitempty"`    // the reducer has been told that Proc is gone

	Accepted int       `json:"accepted,omitempty"`  // runs that have arrived with their ends
	Rejected int       `json:"rejected,omitempty"`  // writes that were refused for good
	Arrived  time.Time `json:"arrived_at,omitzero"` // when something last arrived

	Stuck Stuck `json:"stuck,omitzero"` // what comes next does not get through

	Policy   Policy            `json:"policy,omitzero"`    // of the newest entry
	Skipped  []uuid.UUID       `json:"skipped,omitempty"`  // traces that are not for the destination
	Stripped []uuid.UUID       `json:"stripped,omitempty"` // traces whose content may not leave
	Toolless []uuid.UUID       `json:"toolless,omitempty"` // traces whose tools' content may not leave
	Remotes  []Remote          `json:"remotes,omitempty"`  // the repositories of the newest traces
	Held     []json.RawMessage `json:"held,omitempty"`     // posts that wait for their run's end
}

// Stuck is how often in a row what comes next was answered with a 500.
type Stuck struct {
	Since     time.Time `json:"since,omitzero"`        // the first time
	Delivered time.Time `json:"delivered_at,omitzero"` // the destination's last success, the last time
	Tries     int       `json:"tries,omitempty"`
}

// Status repeats integrations.Status, so that it can be read without a reducer.
type Status struct {
	Open    int      `json:"open,omitempty"`
	Waiting bool     `json:"waiting,omitempty"`
	Ended   bool     `json:"ended,omitempty"`
	Watch   []string `json:"watch,omitempty"`
	More    bool     `json:"more,omitempty"`
}

// Remote is the repository of a trace, looked up once so that all its runs agree.
type Remote struct {
	Trace uuid.UUID `json:"trace"`
	URL   string    `json:"url,omitempty"`
}

// Checkpoint returns how far a destination has got: what its checkpoint says, else
// what the tombstone of a removed session says, else the zero value. An unknown
// version is ErrVersion. A garbled file counts as none: the replay that follows
// gives the same runs.
func (s *Session) Checkpoint(destination string) (Checkpoint, error) {
	c, err := readCheckpoint(s.checkpointPath(destination))
	if err == nil || !missing(err) {
		return c, err
	}
	t, err := s.tombstone()
	if err != nil && !missing(err) {
		return Checkpoint{}, err
	}
	return t.Checkpoints[destination], nil
}

// Checkpoints returns the checkpoints that are there, by destination.
func (s *Session) Checkpoints() (map[string]Checkpoint, error) {
	names, err := list(s.dir)
	if err != nil {
		return nil, fmt.Errorf("journal: checkpoints: %w", err)
	}
	found := map[string]Checkpoint{}
	for _, name := range names {
		id := strings.TrimSuffix(strings.TrimPrefix(name, "checkpoint."), ".json")
		if name != filepath.Base(s.checkpointPath(id)) {
			continue
		}
		c, err := readCheckpoint(s.path(name))
		if missing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found[id] = c
	}
	return found, nil
}

// Commit replaces a destination's checkpoint.
func (s *Session) Commit(destination string, c Checkpoint) error {
	if !plainName(destination) {
		return fmt.Errorf("journal: %q is no destination id", destination)
	}
	c.Version = FormatVersion
	raw, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("journal: checkpoint: %w", err)
	}
	if len(raw) > maxCheckpoint {
		return fmt.Errorf("journal: checkpoint of %d bytes is too large", len(raw))
	}
	return atomicfile.Write(s.checkpointPath(destination), append(raw, '\n'))
}

func (s *Session) checkpointPath(destination string) string {
	return s.path("checkpoint." + destination + ".json")
}

func readCheckpoint(path string) (Checkpoint, error) {
	var c Checkpoint
	if err := readVersioned(path, &c); err != nil {
		return Checkpoint{}, err
	}
	return c, nil
}

// readVersioned decodes a file of ours that names its version.
func readVersioned(path string, into any) error {
	f, err := regular.OpenHere(path)
	if err != nil {
		return fmt.Errorf("journal: read: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxCheckpoint+2))
	if err != nil {
		return fmt.Errorf("journal: read: %w", err)
	}
	var head struct {
		Version int `json:"version"`
	}
	if json.Unmarshal(raw, &head) != nil {
		return &garbledError{filepath.Base(path)}
	}
	if head.Version != FormatVersion {
		return fmt.Errorf("journal: %s is %w: format version %d, not %d", filepath.Base(path), ErrVersion, head.Version, FormatVersion)
	}
	if json.Unmarshal(raw, into) != nil {
		return &garbledError{filepath.Base(path)}
	}
	return nil
}
