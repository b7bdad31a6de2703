package relay

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
)

// maxAtOnce bounds the sessions that are delivered side by side.
const maxAtOnce = 8

// courier has the drainer deliver what comes in. Close waits for it.
type courier struct {
	cfg drain.Config
	log *slog.Logger

	life   context.Context
	end    context.CancelFunc
	group  sync.WaitGroup
	places chan struct{}

	mu   sync.Mutex
	busy map[string]bool // by session: whether something came meanwhile
}

func newCourier(cfg drain.Config, log *slog.Logger) *courier {
	c := &courier{cfg: cfg, log: log, places: make(chan struct{}, maxAtOnce), busy: map[string]bool{}}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

// wake delivers sessions in the background.
func (c *courier) wake(sessions []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range sessions {
		if _, under := c.busy[key]; under {
			c.busy[key] = true
			continue
		}
		c.busy[key] = false
		c.group.Go(func() { c.serve(key) })
	}
}

// serve delivers a session until nothing new has come meanwhile.
func (c *courier) serve(key string) {
	for {
		select {
		case <-c.life.Done():
			return
		case c.places <- struct{}{}:
		}
		err := c.with(func(d *drain.Drainer) error { return d.Deliver(c.life, key, false) })
		<-c.places
		c.mu.Lock()
		again := c.busy[key] && err == nil && c.life.Err() == nil
		if c.busy[key] = false; !again {
			delete(c.busy, key)
		}
		c.mu.Unlock()
		if !again {
			return // what failed the next sweep tries
		}
	}
}

// tidyEvery is how often sessions that are over are looked for, to be removed.
const tidyEvery = 10 * time.Minute

// sweep delivers, until the courier is closed, what nothing wakes it for: turns whose
// client is gone, and what could not be delivered before.
func (c *courier) sweep(every time.Duration) {
	c.group.Go(func() {
		var tidied time.Time
		for {
			if time.Since(tidied) >= tidyEvery {
				tidied = time.Now()
				_ = c.with(func(d *drain.Drainer) error { return d.Collect(c.life) }) // logged by the drainer
			}
			c.wake(c.unfinished())
			select {
			case <-c.life.Done():
				return
			case <-time.After(every):
			}
		}
	})
}

// unfinished lists the turns that have something to be delivered, or an end to come.
func (c *courier) unfinished() (keys []string) {
	sessions, _ := c.cfg.State.Sessions() // what cannot be read is looked at again
	for _, s := range sessions {
		if s.Agent() == Name && c.open(s) {
			keys = append(keys, s.Key())
		}
	}
	return keys
}

func (c *courier) open(s *journal.Session) bool {
	for _, dest := range c.cfg.Destinations {
		cp, err := s.Checkpoint(dest.ID)
		if err != nil {
			continue // another version's, or damaged: the drainer says so when it is woken
		}
		behind, err := s.Behind(cp.Positions)
		if err == nil && (behind || cp.Status.Open > 0 || cp.Status.Waiting) {
			return true
		}
	}
	return false
}

// with runs one life of a drainer: in that a destination that failed is left alone.
func (c *courier) with(work func(*drain.Drainer) error) error {
	d, err := drain.New(c.cfg)
	if err != nil {
		c.log.Error("relay: drainer", "error", err.Error())
		return err
	}
	return work(d)
}

// close ends deliveries under way. What is not delivered stays in the journals.
func (c *courier) close() {
	c.end()
	c.group.Wait()
}
