package openaicodex

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
)

// reader reads one rollout once, line by line, into the stretches of the turns that
// are wanted.
type reader struct {
	path      string
	thread    string
	next      int64
	root      bool  // turns that another thread's turn started are not this thread's
	piece     int64 // bytes that are read at once of a turn; 0: all there is
	meta      *sessionMeta
	total     *tokens
	current   string // the turn that is on: lines of older versions name none
	review    bool   // it is a review: the thread that works for it begins here too
	stretches map[string]*stretch
	late      func(*record) // takes lines of turns that are not wanted, or are no more; may be nil
}

func newReader(path string, from int64, total *tokens) *reader {
	return &reader{path: path, thread: rolloutThread(path), next: from, total: total, stretches: map[string]*stretch{}}
}

// read takes in lines up to the end of a wanted turn, or a piece of one, and reports
// whether there may be more. wants says of a turn that begins whether its lines are to
// be kept. A file that is not there has no lines.
func (rd *reader) read(src integrations.Source, wants func(id string, offset int64) bool) (more bool, err error) {
	kept := int64(0)
	for raw, err := range src.Lines(rd.path, rd.next) {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("openaicodex: rollout: %w", err)
		}
		rd.next = raw.Next
		if !rd.listens() && !structural(raw.Data) {
			continue
		}
		rec, ok := parseRecord(raw.Data)
		if !ok {
			continue
		}
		rec.offset = raw.Offset
		if rd.take(&rec, wants) {
			return true, nil
		}
		if kept += raw.Next - raw.Offset; rd.piece > 0 && kept > rd.piece && rd.listens() {
			rd.weigh(kept)
			return true, nil
		}
	}
	return false, nil
}

// weigh adds to what the turns that are on have taken.
func (rd *reader) weigh(bytes int64) {
	for _, s := range rd.stretches {
		if !s.over() {
			s.bytes += bytes
		}
	}
}

// listens reports whether lines of a turn are being kept.
func (rd *reader) listens() bool {
	for _, s := range rd.stretches {
		if !s.over() {
			return true
		}
	}
	return false
}

func (rd *reader) take(rec *record, wants func(id string, offset int64) bool) (ended bool) {
	switch {
	case rec.meta != nil:
		if rd.meta == nil {
			rd.meta = rec.meta
		}
		return false
	case rec.starts() && !rd.foreign(rec):
		ended, rd.review = rd.start(rec, wants), false
	case rec.begins(rd.thread) && rd.stretches[rec.turn()] == nil:
		ended, rd.review = rd.start(rec, wants), true
	case rec.starts():
		return false
	}
	id := rec.turn()
	if id == "" {
		id = rd.current
	}
	if s := rd.stretches[id]; s != nil && !s.over() {
		s.add(rec)
		ended = ended || s.over()
	} else if s == nil && rd.late != nil {
		rd.late(rec)
	}
	if rec.ends() && id == rd.current {
		rd.current, rd.review = "", false
	}
	if e := rec.event; e != nil && e.Type == "token_count" && e.Info != nil {
		rd.total = &e.Info.Total
	}
	return ended
}

// start begins a turn, and ends the one that never got to its end.
func (rd *reader) start(rec *record, wants func(id string, offset int64) bool) (ended bool) {
	id := rec.turn()
	if id == rd.current {
		return false
	}
	for _, s := range rd.stretches {
		if !s.over() {
			s.cutOff()
			ended = true
		}
	}
	rd.current = id
	if wants(id, rec.offset) {
		rd.stretches[id] = newStretch(id, rd.total)
	}
	return ended
}

// foreign reports whether a turn that begins is none of the thread's own: it was
// copied with the history of another, or it is a review's, whose start is noted in
// both threads. A client may name the turn that made it begin one: it then says, too,
// what kind of thing began it.
func (rd *reader) foreign(rec *record) bool {
	at := rec.event.Attribution
	if rd.root && (rd.review || at != nil && at.Parent != "" && at.Trigger == "") {
		return true
	}
	if rd.meta != nil && rec.ordinal >= 0 && rec.ordinal < rd.meta.HistoryStart {
		return true
	}
	made, thread := idTime(rec.event.Turn), idTime(rd.thread)
	return !made.IsZero() && made.Before(thread)
}

// begins reports whether a line begins a turn that has no task_started: a review.
func (r *record) begins(thread string) bool {
	e := r.event
	switch {
	case e == nil || e.Turn == "":
		return false
	case e.Type == "entered_review_mode":
		return true
	}
	return e.Type == "item_completed" && e.Item != nil && e.Item.Type == "EnteredReviewMode" && e.Thread == thread
}

// read goes on reading the session's rollout. Of a thread whose past is not ours the
// first turn that a hook named is the first one that counts.
func (r *reducer) read(src integrations.Source) (ended bool, err error) {
	if r.Rollout == "" || !r.Begun && len(r.Turns) == 0 {
		return false, nil
	}
	if r.reader == nil {
		r.reader = newReader(r.Rollout, r.From, r.Total)
		r.reader.root, r.reader.piece = true, maxPiece
		r.reader.late = func(rec *record) {
			if rec.offset >= r.From {
				r.late(rec)
			}
		}
		for _, t := range r.Turns {
			if t.located() && t.Line < r.reader.next {
				r.reader.next, r.reader.total = t.Line, t.Total
			}
		}
	}
	rd := r.reader
	ended, err = rd.read(src, func(id string, offset int64) bool { return r.wants(src, id, offset) })
	r.meet(src)
	if rd.next > r.From {
		r.From, r.Total = rd.next, rd.total
	}
	return ended, err
}

// meet takes over what the first line of the rollout says of the thread.
func (r *reducer) meet(src integrations.Source) {
	m := r.reader.meta
	if r.Thread.Known || m == nil {
		return
	}
	kind, parent := m.agent()
	r.Thread = thread{
		Known: true, Kind: kind, Parent: parent, Name: m.name(), CWD: m.CWD, Version: m.Version,
		Surface: surface(m.Originator), Provider: m.Provider,
		Branch: m.Git.Branch, SHA: m.Git.SHA, URL: cleanRemote(m.Git.URL),
	}
	if m.Base != nil && r.Count == 0 {
		r.Count = countTurns(src, r.Rollout, m.Base.Thread, m.Base.End, 8)
	}
}

func (m *sessionMeta) name() string {
	if m.AgentPath != "" {
		return m.AgentPath
	}
	return m.Nickname
}

// wants decides on a turn that begins. One that was looked at before is wanted if it
// is still open.
func (r *reducer) wants(src integrations.Source, id string, offset int64) bool {
	r.meet(src)
	at := slices.IndexFunc(r.Turns, func(t *turn) bool { return t.ID == id })
	if offset < r.From {
		return at >= 0 && r.Turns[at].Line == offset
	}
	r.Count++
	r.Begun = r.Begun || at >= 0
	if !r.Begun || slices.Contains(r.Closed, id) {
		return false
	}
	var t *turn
	if at >= 0 {
		t = r.Turns[at]
		r.Turns = slices.Delete(r.Turns, at, at+1)
	} else {
		t = &turn{ID: id}
	}
	t.Line, t.Total, t.Number = offset, r.reader.total, r.Count
	after := slices.IndexFunc(r.Turns, func(u *turn) bool { return !u.located() })
	if after < 0 {
		after = len(r.Turns)
	}
	r.Turns = slices.Insert(r.Turns, after, t)
	return true
}

// stretch is what the rollout holds of a turn; nil if it was not found.
func (r *reducer) stretch(t *turn) *stretch {
	if r.reader == nil {
		return nil
	}
	return r.reader.stretches[t.ID]
}

// promptless reports whether nobody prompted the thread before a turn, or ever if none is
// named, so that no hook could have told that it began.
func (r *reducer) promptless(src integrations.Source, before string) bool {
	if r.Rollout == "" {
		return false
	}
	for raw, err := range src.Lines(r.Rollout, 0) {
		if err != nil {
			return false
		}
		rec, ok := parseRecord(raw.Data)
		if !ok || rec.event == nil {
			continue
		}
		e := rec.event
		if before != "" && e.Turn == before {
			return true
		}
		if rec.begins(r.Session) {
			return true // what is asked from here on, the review is asked
		}
		if e.Type == "user_message" || e.Item != nil && e.Item.Type == "UserMessage" && e.Thread == r.Session {
			return false
		}
	}
	return true
}

// countTurns counts the turns of the history that a rollout continues: numbers go on
// in a fork. deep bounds forks of forks.
func countTurns(src integrations.Source, beside, thread string, end int64, deep int) int {
	path := findRollout(src, homeOf(beside), thread)
	if path == "" || deep == 0 {
		return 0
	}
	rd := newReader(path, 0, nil)
	rd.root = true
	n := 0
	for raw, err := range src.Lines(path, 0) {
		if err != nil {
			return n
		}
		if !structural(raw.Data) {
			continue
		}
		rec, ok := parseRecord(raw.Data)
		switch {
		case !ok:
		case rec.ordinal >= end:
			return n
		case rec.meta != nil && rd.meta == nil:
			rd.meta = rec.meta
			if b := rec.meta.Base; b != nil {
				n += countTurns(src, beside, b.Thread, b.End, deep-1)
			}
		default:
			rd.take(&rec, func(string, int64) bool { n++; return false })
		}
	}
	return n
}

// homeOf is Codex's folder, out of the path of a rollout:
// <home>/sessions/2026/11/30/rollout-....jsonl, or <home>/archived_sessions/rollout-....jsonl.
func homeOf(rollout string) string {
	dir := filepath.Dir(rollout)
	if filepath.Base(dir) == archive {
		return filepath.Dir(dir)
	}
	for range 4 {
		dir = filepath.Dir(dir)
	}
	return dir
}

// findRollout looks for a thread's rollout: in the folders of the days around its
// making first, for the names say local time. Of several the last is the thread's own.
func findRollout(src integrations.Source, home, thread string) string {
	if len(thread) != 36 || strings.ContainsAny(thread, `*?[\/`) {
		return ""
	}
	name := "rollout-*-" + thread + "*.jsonl"
	sessions := filepath.Join(escape(home), "sessions")
	var patterns []string
	if made := idTime(thread); !made.IsZero() {
		for _, days := range [...]int{0, -1, 1} {
			patterns = append(patterns, filepath.Join(sessions, made.AddDate(0, 0, days).Format("2006/01/02"), name))
		}
	}
	patterns = append(patterns, filepath.Join(escape(home), archive, name), filepath.Join(sessions, "*", "*", "*", name))
	for _, pattern := range patterns {
		if found, err := src.Glob(pattern); err == nil && len(found) > 0 {
			return found[len(found)-1]
		}
	}
	return ""
}

// escape makes a pattern that matches a path alone. Windows has no escapes.
func escape(path string) string {
	if filepath.Separator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
