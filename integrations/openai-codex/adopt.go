package openaicodex

import (
	"path/filepath"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// maxDays bounds how far back a thread is looked for that works for a turn.
const maxDays = 31

// adopt finds the threads that a thread started and that worked for a turn of it
// without its saying so, such as a review or a guardian. A guardian's may have been made
// when the process began, which can be days before the turn, and it works for turn after
// turn.
func (r *reducer) adopt(src integrations.Source, f *family, thread string, end time.Time) {
	if r.Rollout == "" {
		return
	}
	begin := f.stretch.made()
	end = begin.Add(end.Sub(f.stretch.start)) // by the clock that ids are made with
	since := begin
	if made := idTime(thread); !made.IsZero() && made.Before(begin) {
		since = made
	}
	if earliest := end.AddDate(0, 0, -maxDays); since.Before(earliest) {
		since = earliest
	}
	for _, pattern := range r.beside(since, end) {
		paths, err := src.Glob(pattern)
		if err != nil {
			return
		}
		for _, path := range paths {
			made := idTime(rolloutThread(path))
			if !made.Before(since.Truncate(time.Millisecond)) && !made.After(end.Add(time.Minute)) { // of a killed turn the end is a guess
				during := !made.Before(begin.Truncate(time.Millisecond)) && !made.After(end)
				r.adoptOne(src, path, f, thread, during)
			}
		}
	}
}

// beside lists the patterns of threads that were made in a span of time. Folders are named
// after local days.
func (r *reducer) beside(since, end time.Time) []string {
	home := escape(homeOf(r.Rollout))
	if filepath.Base(filepath.Dir(r.Rollout)) == archive {
		return []string{filepath.Join(home, archive, rolloutName)}
	}
	var list []string
	for day := since.AddDate(0, 0, -1); !day.After(end.AddDate(0, 0, 1).Truncate(24 * time.Hour)); day = day.AddDate(0, 0, 1) {
		list = append(list, filepath.Join(home, "sessions", day.Format("2006/01/02"), rolloutName))
	}
	return list
}

// adoptOne takes a thread in that the thread started and that worked for the turn: its
// own turns say for which. In older versions they do not, and it has to have been made
// while the turn was on (during).
func (r *reducer) adoptOne(src integrations.Source, path string, f *family, thread string, during bool) {
	id := rolloutThread(path)
	if id == r.Session || r.Agents[id] != nil || r.strangers[path] {
		return
	}
	rd := newReader(path, 0, nil)
	up := agentkit.NewAnchor(f.parent, f.start, f.turn)
	a := &agent{Thread: id, Path: path, Asks: []*ask{{Turn: f.turn, By: f.stretch.id, Up: up}}}
	for raw, err := range src.Lines(path, 0) {
		if err != nil {
			return
		}
		if !structural(raw.Data) {
			continue
		}
		rec, ok := parseRecord(raw.Data)
		switch {
		case rd.meta == nil:
			if !ok || rec.meta == nil || !r.family(rec.meta) {
				r.strangers[path] = true
				return
			}
			kind, parent := rec.meta.agent()
			if parent != thread {
				return
			}
			rd.meta, a.Kind, a.Name = rec.meta, kind, rec.meta.name()
		case ok && rec.starts() && !rd.foreign(&rec):
			at := rec.event.Attribution
			if at == nil || at.Parent == "" && at.Root == "" {
				if during && r.hasRoom() {
					r.Agents[id] = a
				}
				return
			}
			if at.Parent == f.stretch.id || at.Parent == "" && at.Root == f.turn {
				if a.From = raw.Offset; r.hasRoom() {
					r.Agents[id] = a
				}
				return
			}
		}
	}
}

// family reports whether one of the session's threads may have started another: older
// versions do not say whose it is.
func (r *reducer) family(m *sessionMeta) bool {
	kind, parent := m.agent()
	return kind != "" && parent != "" && (m.Session == "" || m.Session == r.Session)
}
