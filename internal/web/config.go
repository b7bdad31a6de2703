package web

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/internal/store"
)

// Config says what the page shows and to whom. Only Store must be set.
type Config struct {
	Store *store.Store
	Token string   // shown by whoever asks; empty: a new one
	Hosts []string // names beside loopback's that a browser may call the page by, such as that of a forwarded port

	// Redaction tells what goes over what is exported, once more, by the settings as they
	// are then: the user's own rules, then the built-in ones. An error: nothing is
	// exported. nil: the built-in ones.
	Redaction func() (redact.Rules, redact.Pass, error)

	// Elsewhere reports whether a trace was delivered to LangSmith, and Open finds the
	// address of its page there, which asks LangSmith. nil: neither is known.
	Elsewhere func(trace string) bool
	Open      func(ctx context.Context, trace string) (string, error)

	// Destinations are where turns leave this machine for, an empty list if they stay. nil,
	// or a nil list: not known.
	Destinations func() []Destination

	Poll time.Duration  // how often the store is looked at while somebody listens. 300 ms
	Zone *time.Location // of days. nil: the machine's
}

// Destination is a place that turns go to.
type Destination struct {
	Address string    // without keys
	Project string    // empty: the agent's name, or there are none
	Content string    // how much of a turn goes there by the settings; empty: it went there by others
	Bare    bool      // it goes there without redaction
	Last    time.Time // of the last delivery; zero: none yet
}

const defaultPoll = 300 * time.Millisecond

func (c Config) withDefaults() Config {
	if c.Token == "" {
		c.Token = rand.Text()
	}
	if c.Redaction == nil {
		c.Redaction = func() (redact.Rules, redact.Pass, error) { return nil, redact.Pass{}, nil }
	}
	if c.Poll <= 0 {
		c.Poll = defaultPoll
	}
	if c.Zone == nil {
		c.Zone = time.Local
	}
	return c
}
