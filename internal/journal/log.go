package journal

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/tracesmith/tracesmith/internal/private"
)

// maxLog bounds the log: at that size it becomes the old one, and the old one
// goes.
const maxLog = 4 << 20

// Log opens the log that all processes share, as JSON lines. Close it when done.
// Never log content: ids, counts, sizes and durations.
func (s *State) Log() (*slog.Logger, io.Closer, error) {
	if err := private.Dir(s.path("log")); err != nil {
		return nil, nil, fmt.Errorf("journal: log: %w", err)
	}
	path := s.path("log", "tracesmith.jsonl")
	if info, err := os.Lstat(path); err == nil && info.Size() > maxLog {
		// Two processes may both do this: the worst is one old log less.
		_ = os.Rename(path, s.path("log", "tracesmith.old.jsonl"))
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|noFollow, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("journal: log: %w", err)
	}
	return slog.New(slog.NewJSONHandler(f, nil)), f, nil
}
