package history

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/drain"
)

// found is a session with what the file system says of it.
type found struct {
	integrations.Session
	bytes    int64
	modified time.Time // the newest of its files
}

// find lists the sessions to import, those that were written to last at the end: a
// destination that keeps only the newest keeps the right ones.
func (i *Import) find(ctx context.Context) ([]found, error) {
	paths := i.cfg.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	var list []found
	seen := map[string]bool{}
	for _, path := range paths {
		place := i.cfg.Place
		place.Path = path
		before := len(seen)
		for s, err := range i.cfg.Agent.Past(drain.NewSnapshot(), place) {
			if err != nil {
				return nil, fmt.Errorf("history: %w", err)
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			key := s.Main()
			if !s.Modified.IsZero() {
				key += "\x00" + s.ID // one of many in the file
			}
			if seen[key] {
				continue
			}
			seen[key] = true
			list = append(list, stat(s))
		}
		if path != "" && len(seen) == before {
			return nil, fmt.Errorf("history: no session of %s in %s", i.cfg.Agent.Runtime, path)
		}
	}
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(a.modified.Compare(b.modified), cmp.Compare(a.Main(), b.Main()))
	})
	return list, nil
}

// stat measures a session's files. One that is gone counts as empty.
func stat(s integrations.Session) found {
	f := found{Session: s}
	for _, path := range s.Files {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		f.bytes += info.Size()
		if info.ModTime().After(f.modified) {
			f.modified = info.ModTime()
		}
	}
	if !s.Modified.IsZero() {
		f.modified = s.Modified
	}
	return f
}
