package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/journal"
)

// lockPatience is how long to wait for a session's lock: a hook that looks
// whether a drainer is at work holds it for a moment.
const lockPatience = 50 * time.Millisecond

// drain delivers one session until nothing is new. The look after unlocking is
// what closes the gap: a hook that found the lock taken has written before, and
// one that finds it free starts a drainer itself. With wait another drainer at
// work is waited for until nothing is left to do.
func (d *Drainer) drain(ctx context.Context, s *journal.Session, linger time.Duration, wait bool) error {
	agent := d.cfg.Agents(s.Agent())
	if agent == nil {
		return fmt.Errorf("drain: unknown agent %q", s.Agent())
	}
	stuck := newProblems()
	for {
		lock, err := d.lock(ctx, s)
		switch {
		case errors.Is(err, journal.ErrLocked) && wait && ctx.Err() == nil && d.orphaned(s):
			continue
		case errors.Is(err, journal.ErrLocked), errors.Is(err, fs.ErrNotExist):
			return errors.Join(stuck.all(), ctx.Err()) // somebody is at it, or there is nothing
		case err != nil:
			return err
		}
		d.round(ctx, s, agent, linger, stuck)
		lock.Unlock()
		if err := ctx.Err(); err != nil {
			return errors.Join(stuck.all(), fmt.Errorf("drain: %w", err))
		}
		if !d.behind(s, stuck) {
			return stuck.all()
		}
	}
}

func (d *Drainer) lock(ctx context.Context, s *journal.Session) (*journal.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	return s.LockDrain(ctx)
}

// problems holds what stopped destinations. Safe for concurrent use.
type problems struct {
	mu sync.Mutex
	of map[string]error
}

func newProblems() *problems { return &problems{of: map[string]error{}} }

func (p *problems) add(destination string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of[destination] = err
}

func (p *problems) has(destination string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.of[destination] != nil
}

func (p *problems) all() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []error
	for _, destination := range slices.Sorted(maps.Keys(p.of)) {
		list = append(list, fmt.Errorf("drain: %w", p.of[destination]))
	}
	return errors.Join(list...)
}

// serves reports whether a destination can be served in this session now. One
// that could not be served in another session is not tried again.
func (d *Drainer) serves(s *journal.Session, dest Destination, stuck *problems) bool {
	return !stuck.has(dest.ID) && !d.down.has(dest.ID) && (d.cfg.Insist || !d.resting(dest)) && !d.foreign(s, dest)
}

// behind reports whether the session's journal holds more for a destination that
// can be served.
func (d *Drainer) behind(s *journal.Session, stuck *problems) bool {
	for _, dest := range d.destinations {
		if !d.serves(s, dest, stuck) {
			continue
		}
		cp, err := s.Checkpoint(dest.ID)
		if err != nil {
			continue // reported where it is loaded
		}
		if more, err := s.Behind(cp.Positions); err == nil && more {
			return true
		}
	}
	return false
}

// round follows the session for all destinations side by side, until none of
// them has anything to do: a slow one does not hold up the others.
func (d *Drainer) round(ctx context.Context, s *journal.Session, agent *integrations.Agent, linger time.Duration, stuck *problems) {
	var served []Destination
	crowd := &crowd{busy: map[string]bool{}}
	for _, dest := range d.destinations {
		if d.serves(s, dest, stuck) {
			served = append(served, dest)
			crowd.busy[dest.ID] = true
		}
	}
	var group sync.WaitGroup
	for _, dest := range served {
		group.Go(func() {
			defer crowd.set(dest.ID, false)
			err := d.follow(ctx, d.newFold(s, agent, dest), linger, crowd)
			if err == nil || ctx.Err() != nil || errors.Is(err, errSlowly) {
				return
			}
			stuck.add(dest.ID, fmt.Errorf("%s: %w", cmp.Or(dest.Name, dest.ID), err))
			if undelivered := (*deliveryError)(nil); errors.As(err, &undelivered) {
				d.down.add(dest.ID, undelivered.err)
				d.failed(dest, undelivered.err)
				return
			}
			d.log.Error("session not drained", "session", s.Key(), "destination", dest.ID, "error", err.Error())
		})
	}
	group.Wait()
}

// follow makes passes for one destination until it and its siblings are quiet.
func (d *Drainer) follow(ctx context.Context, f *fold, linger time.Duration, others *crowd) error {
	if err := f.load(); err != nil {
		return err
	}
	last := d.now()
	for {
		moved, err := f.pass(ctx)
		if err != nil {
			return err
		}
		if moved {
			last = d.now()
		}
		quiet := d.now().Sub(last)
		if !others.set(f.dest.ID, quiet < linger || f.expecting()) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d.poll(quiet)):
		}
	}
}

// poll is how long to wait before the next look: the longer nothing came the
// longer, for many sessions may have a lingering drainer each.
func (d *Drainer) poll(quiet time.Duration) time.Duration {
	const share, slowest = 20, 8
	return min(max(d.cfg.Poll, quiet/share), slowest*d.cfg.Poll)
}

// crowd knows which destinations of a session are busy. Safe for concurrent use.
type crowd struct {
	mu   sync.Mutex
	busy map[string]bool
}

// set notes whether a destination is busy and reports whether any is.
func (c *crowd) set(destination string, busy bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy[destination] = busy
	for _, each := range c.busy {
		if each {
			return true
		}
	}
	return false
}
