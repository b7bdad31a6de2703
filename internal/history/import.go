package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tracesmith/tracesmith/internal/journal"
)

// Import is one import: Run is its life.
type Import struct {
	cfg      Config
	targets  []*target
	folders  map[string]*Folder
	report   Report
	progress Progress
}

// ErrBusy says that another import is at work.
var ErrBusy = errors.New("history: another import is at work")

// Run imports what it finds. The report counts what was done even if there is an
// error: a cancelled context, or destinations that failed.
func (i *Import) Run(ctx context.Context) (Report, error) {
	i.report = Report{DryRun: i.cfg.DryRun, Left: map[string]int{}, Lost: map[string]int{}}
	i.folders, i.progress = map[string]*Folder{}, Progress{}
	if !i.cfg.DryRun {
		lock, err := i.cfg.State.TryImport()
		if errors.Is(err, journal.ErrLocked) {
			return i.report, ErrBusy
		}
		if err != nil {
			return i.report, fmt.Errorf("history: %w", err)
		}
		defer lock.Unlock()
	}
	var err error
	if i.targets, err = targets(i.cfg.State, i.cfg.Destinations); err != nil {
		return i.report, err
	}
	sessions, err := i.find(ctx)
	if err != nil {
		return i.report, err
	}
	err = i.all(ctx, sessions)
	return i.sum(), errors.Join(err, i.failures())
}

// all imports one session after the other.
func (i *Import) all(ctx context.Context, sessions []found) error {
	i.progress.OfSessions = len(sessions)
	for _, s := range sessions {
		i.progress.OfBytes += s.bytes
	}
	i.cfg.Progress(i.progress)
	for _, s := range sessions {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("history: %w", err)
		}
		if !slices.ContainsFunc(i.targets, func(t *target) bool { return t.err == nil }) {
			return nil // their errors say why
		}
		if err := i.one(ctx, s); err != nil {
			return err
		}
		i.progress.Sessions++
		i.progress.Bytes += s.bytes
		i.cfg.Progress(i.progress)
	}
	return nil
}

// one imports a session, or counts why it is left out. Its error ends the import.
func (i *Import) one(ctx context.Context, s found) error {
	if s.modified.Before(i.cfg.Since) {
		i.report.Left[LeftOld]++
		return nil
	}
	release, left := i.claim(s)
	if left != "" {
		i.report.Left[left]++
		return nil
	}
	defer release()
	mute, err := i.cfg.State.Session(i.cfg.Agent.Name, s.ID).Mute()
	if err != nil { // what was muted must not leave
		i.report.Left[LeftUnreadable]++
		i.cfg.Log.Error("import", "session", s.ID, "error", err.Error())
		return nil
	}
	w := i.newWay(s)
	w.mute = mute
	err = w.walk(ctx)
	i.count(s, w)
	if err == nil || ctx.Err() != nil {
		return err
	}
	i.report.Left[LeftUnreadable]++
	// An error may quote what it could not read: its type says enough.
	i.cfg.Log.Error("import", "session", s.ID, "error", fmt.Sprintf("%T", err))
	return nil
}

// count adds a session to its folder.
func (i *Import) count(s found, w *way) {
	for reason, n := range w.lost {
		i.report.Lost[reason] += n
		if i.cfg.DryRun {
			continue
		}
		if err := i.cfg.State.Drop(reason, n); err != nil {
			i.cfg.Log.Error("drop not counted", "reason", reason, "count", n)
		}
	}
	i.report.Off += w.off
	if w.turns == 0 {
		return
	}
	folder := i.folders[w.cwd]
	if folder == nil {
		folder = &Folder{Path: w.cwd}
		i.folders[w.cwd] = folder
	}
	folder.Sessions++
	folder.Turns += w.turns
	for _, t := range w.traces {
		if t.wanted {
			folder.New++
			folder.Runs += t.runs
		}
	}
	folder.Bytes += s.bytes
}

// sum completes the report.
func (i *Import) sum() Report {
	i.report.Folders = []Folder{}
	for _, folder := range i.folders {
		i.report.Folders = append(i.report.Folders, *folder)
	}
	slices.SortFunc(i.report.Folders, func(a, b Folder) int { return cmp.Compare(a.Path, b.Path) })
	i.report.Sent = nil
	for _, t := range i.targets {
		sent := t.sent
		if t.err != nil {
			sent.Error = t.err.Error()
		}
		i.report.Sent = append(i.report.Sent, sent)
	}
	return i.report
}

// failures joins what stopped targets.
func (i *Import) failures() error {
	var list []error
	for _, t := range i.targets {
		if t.err != nil {
			list = append(list, fmt.Errorf("%s: %w", cmp.Or(t.Name, t.ID), t.err))
		}
	}
	return errors.Join(list...)
}
