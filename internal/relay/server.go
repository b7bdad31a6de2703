package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/loopback"
	"github.com/tracesmith/tracesmith/internal/private"
)

// DefaultListen is the address that clients are told.
const DefaultListen = "127.0.0.1:1985"

// defaultSettle is how long a turn that has ended may go on with another round, such as
// after a hook's answer, before its end is told.
const defaultSettle = 5 * time.Second

// defaultSweep is how often what was left behind is looked for.
const defaultSweep = 5 * time.Second

// waitTick is how often a relay asks itself whether it is needed.
const waitTick = time.Second

// ErrRunning says that this install's relay is at work already.
var ErrRunning = errors.New("relay: it runs already")

// Config says what a relay works with.
type Config struct {
	// Drain delivers what comes in. Its Agents are replaced.
	Drain drain.Config
	// Rules are the user's settings in a folder; empty: the user's own. It is called
	// for every run and remembers.
	Rules func(dir string) Rules

	Listen   string // a loopback address; empty: DefaultListen
	Upstream string // LangSmith's base URL, for what is sent on
	Key      string // a key besides the token that has runs delivered; empty: none
	Who      Credentials
	Road     http.RoundTripper // by which requests are sent on; nil: the environment's

	Idle   time.Duration // end after so long without a request; 0: never
	Stay   func() bool   // whether the relay is still wanted; nil: it is
	Settle time.Duration // how long an ended turn may go on with another round. 0: 5 s
	Sweep  time.Duration // how often to look for what was left behind. 0: 5 s

	Log *slog.Logger
	Now func() time.Time // nil: time.Now
}

// Relay is one that serves.
type Relay struct {
	cfg     Config
	lock    *flock.Flock
	index   *index
	courier *courier
	forward *forwarder
	http    *http.Server
	addr    string
	last    atomic.Int64
	served  chan error
}

// Start listens and serves until Close. What an earlier relay took in and did not
// deliver is delivered.
func Start(cfg Config) (_ *Relay, err error) {
	if cfg.Listen == "" {
		cfg.Listen = DefaultListen
	}
	if cfg.Settle == 0 {
		cfg.Settle = defaultSettle
	}
	if cfg.Sweep == 0 {
		cfg.Sweep = defaultSweep
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if !loopback.Is(cfg.Listen) {
		return nil, fmt.Errorf("relay: listen on %s: only a loopback address is served, such as %s", cfg.Listen, DefaultListen)
	}
	to, err := url.Parse(cfg.Upstream)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return nil, errors.New("relay: the endpoint of LangSmith is no URL")
	}
	if loopback.Is(to.Host) && to.Host == cfg.Listen {
		return nil, fmt.Errorf("relay: the endpoint of LangSmith is the relay itself (%s): set another one", cfg.Listen)
	}
	r := &Relay{cfg: cfg, served: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.release())
		}
	}()
	if err := r.acquire(); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("relay: listen on %s: %w", cfg.Listen, err)
	}
	r.addr = listener.Addr().String()
	r.serve(listener, to)
	return r, nil
}

// lookTime is how long a relay that begins takes the lock's holder for somebody who
// only looks whether one runs.
const lookTime = 500 * time.Millisecond

// acquire takes what only one relay of an install may have.
func (r *Relay) acquire() (err error) {
	dir := Dir(r.cfg.Drain.State.Dir())
	if err := private.Dir(dir); err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	lock := flock.New(LockPath(r.cfg.Drain.State.Dir()), flock.SetPermissions(0o600))
	patience, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	switch held, err := lock.TryLockContext(patience, lookTime/20); {
	case errors.Is(err, context.DeadlineExceeded):
		return ErrRunning
	case err != nil || !held:
		return fmt.Errorf("relay: lock: %w", err)
	}
	r.lock = lock
	r.index, err = openIndex(dir)
	return err
}

func (r *Relay) serve(listener net.Listener, to *url.URL) {
	cfg := r.cfg.Drain
	own := Agent()
	cfg.Agents = func(name string) *integrations.Agent {
		if name == Name {
			return own
		}
		return nil
	}
	cfg.Idle = r.cfg.Settle
	r.courier = newCourier(cfg, r.cfg.Log)
	r.forward = newForwarder(to, r.cfg.Who, r.cfg.Road, r.cfg.Log)
	r.last.Store(r.cfg.Now().UnixNano())
	token, err := Token(Dir(cfg.State.Dir()))
	if err != nil {
		r.cfg.Log.Error("relay: no token, so that all goes on as it comes", "error", err.Error())
	}
	r.http = &http.Server{
		Handler: loopback.Guard(&handler{
			intake:  &intake{state: cfg.State, index: r.index, rules: r.cfg.Rules, now: r.cfg.Now},
			forward: r.forward, token: token, key: r.cfg.Key, wake: r.courier.wake, log: r.cfg.Log, last: &r.last,
		}),
		ConnContext:       withPeer,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(r.cfg.Log.Handler(), slog.LevelWarn),
	}
	loopback.CutSilent(r.http)
	r.courier.sweep(r.cfg.Sweep)
	go func() { r.served <- r.http.Serve(listener) }()
}

// URL is what clients are to take for LangSmith's endpoint.
func (r *Relay) URL() string { return "http://" + r.addr }

// Wait returns when ctx is done, when the relay is no longer wanted or has been idle for
// long enough, or with why it no longer serves.
func (r *Relay) Wait(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-r.served:
			r.served <- err
			return fmt.Errorf("relay: %w", err)
		case <-time.After(waitTick):
			idle := r.cfg.Now().Sub(time.Unix(0, r.last.Load()))
			if r.cfg.Idle > 0 && idle >= r.cfg.Idle || r.cfg.Stay != nil && !r.cfg.Stay() {
				return nil
			}
		}
	}
}

// Close stops listening, waits for requests under way until ctx is done, cuts those that
// are left, which their clients send again, and ends deliveries. What is not delivered is
// on disk.
func (r *Relay) Close(ctx context.Context) error {
	err := r.http.Shutdown(ctx)
	if err != nil {
		err = r.http.Close()
	}
	<-r.served
	r.courier.close()
	r.forward.close()
	return errors.Join(err, r.release())
}

// release gives up what only one relay may have.
func (r *Relay) release() error {
	var failures []error
	if r.index != nil {
		failures = append(failures, r.index.close())
	}
	if r.lock != nil {
		failures = append(failures, r.lock.Close())
	}
	return errors.Join(failures...)
}
