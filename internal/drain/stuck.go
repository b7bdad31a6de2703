package drain

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

// A destination that passes runs on, such as a collector, may say 500 both while what
// stands behind it is down and when that has said no, for good, to one run. Such a run
// would hold up all that comes after it. It is given up once a session has been stuck
// for so often and so long, and others get through while it, alone, does not.
const (
	stuckTries = 5
	stuckFor   = 30 * time.Minute
	stuckLead  = 3 // so many more runs that fail than get through: it is down, after all
)

// vague reports whether a failure may stand for a refusal for good of one run.
func (f *fold) vague(err error) bool {
	var refused *exporter.StatusError
	return f.dest.GiveUp != nil && errors.As(err, &refused) && refused.Status == http.StatusInternalServerError
}

// export delivers a part, if need be without the runs that keep it from getting through.
func (f *fold) export(ctx context.Context, part []runtypes.Op) (exporter.Receipt, error) {
	got, err := f.send(ctx, part)
	if f.vague(err) && f.ripe() {
		got, err = f.apart(ctx, part, err)
	}
	if f.vague(err) {
		f.noteStuck()
	}
	return got, err
}

func (f *fold) send(ctx context.Context, ops []runtypes.Op) (exporter.Receipt, error) {
	got, err := f.dest.Export(ctx, ops)
	if err == nil && len(got.Rest) > 0 {
		err = errors.New("drain: destination gave ops back without a reason")
	}
	return got, err
}

// ripe reports whether the session has been stuck for long enough.
func (f *fold) ripe() bool {
	stuck := f.cp.Stuck
	return stuck.Tries >= stuckTries && f.d.now().Sub(stuck.Since) >= stuckFor
}

// noteStuck notes a failure beside what was committed last, which stays as it is.
func (f *fold) noteStuck() {
	cp, err := f.session.Checkpoint(f.dest.ID)
	if err == nil {
		now := f.d.now().UTC()
		if cp.Stuck.Since.IsZero() || cp.Stuck.Since.After(now) {
			cp.Stuck = journal.Stuck{Since: now}
		}
		cp.Stuck.Tries++
		cp.Stuck.Delivered = f.lastSuccess()
		err = f.session.Commit(f.dest.ID, cp)
	}
	if err != nil {
		f.d.log.Warn("failure not noted", "session", f.session.Key(), "destination", f.dest.ID, "error", err.Error())
	}
}

// apart sends a part that does not get through in ever smaller ones, and gives up the
// runs that fail alone, and once more after others got through.
func (f *fold) apart(ctx context.Context, part []runtypes.Op, why error) (exporter.Receipt, error) {
	s := sieve{f: f, why: why}
	if err := s.split(ctx, part); err != nil {
		return s.got, err
	}
	if s.passed == 0 && !f.othersPass() {
		return s.got, s.why
	}
	var lost []runtypes.Op
	for _, op := range s.left {
		switch err := s.send(ctx, []runtypes.Op{op}); {
		case f.vague(err):
			lost, s.why = append(lost, op), err
		case err != nil:
			return s.got, err
		}
	}
	if len(lost) > 0 {
		f.dest.GiveUp(lost, &exporter.DropError{Reason: exporter.ReasonRejected, Err: s.why})
		s.got.Dropped = append(s.got.Dropped, lost...)
	}
	return s.got, nil
}

// othersPass reports whether another session's runs got through since this one's did
// not the last time. What time that was does not matter: the clock may have been wrong.
func (f *fold) othersPass() bool {
	return !f.lastSuccess().Equal(f.cp.Stuck.Delivered)
}

// lastSuccess is when the destination last took something; zero: not known.
func (f *fold) lastSuccess() time.Time {
	record, err := f.d.state.Destination(f.dest.ID)
	if err != nil {
		return time.Time{}
	}
	return record.Delivered
}

// sieve parts runs that get through from those that do not.
type sieve struct {
	f      *fold
	passed int
	left   []runtypes.Op // that failed alone
	why    error         // the last failure
	got    exporter.Receipt
}

// send sends ops, and adds what became of them once they are through.
func (s *sieve) send(ctx context.Context, ops []runtypes.Op) error {
	got, err := s.f.send(ctx, ops)
	if err != nil {
		return err
	}
	s.got.Dropped = append(s.got.Dropped, got.Dropped...)
	s.got.Unnamed += got.Unnamed
	s.got.Shortened += got.Shortened
	return nil
}

// split sends the halves of ops that failed together, or sets aside the one.
func (s *sieve) split(ctx context.Context, ops []runtypes.Op) error {
	if len(ops) == 1 {
		if s.left = append(s.left, ops...); len(s.left)-s.passed >= stuckLead {
			return s.why
		}
		return nil
	}
	for half := range slices.Chunk(ops, (len(ops)+1)/2) {
		err := s.send(ctx, half)
		switch {
		case err == nil:
			s.passed += len(half)
			continue
		case !s.f.vague(err):
			return err
		}
		s.why = err
		if err := s.split(ctx, half); err != nil {
			return err
		}
	}
	return nil
}
