package ingest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/tracesmith/tracesmith/internal/loopback"
)

// Server is a Handler with a listener on loopback.
type Server struct {
	*Handler
	addr string // fixed once the first listener has a port

	mu     sync.Mutex
	up     *http.Server // nil while the server is down
	cancel context.CancelFunc
	done   chan struct{}
}

// Start listens on addr, which must be on loopback, and serves until Close. An
// empty addr is a free port of 127.0.0.1.
func Start(cfg Config, addr string) (*Server, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	if !loopback.Is(addr) {
		return nil, fmt.Errorf("ingest: listen on %s: only a loopback address is served, such as 127.0.0.1", addr)
	}
	s := &Server{Handler: New(cfg), addr: addr}
	return s, s.Resume()
}

// URL is the server's base, such as http://127.0.0.1:1984.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return "http://" + s.addr
}

// Resume listens again on the same port after Refuse.
func (s *Server) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.up != nil {
		return nil
	}
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return fmt.Errorf("ingest: listen on %s: %w", s.addr, err)
	}
	s.addr = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	up := &http.Server{
		Handler:           loopback.Guard(s.Handler),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
	}
	loopback.CutSilent(up)
	done := make(chan struct{})
	go func() {
		defer close(done)
		// It returns when the server is closed, by this package alone.
		_ = up.Serve(listener)
	}()
	s.up, s.cancel, s.done = up, cancel, done
	return nil
}

// Refuse takes the server off its port, so that connections are refused until
// Resume. Requests under way are cut.
func (s *Server) Refuse() error {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.Close(canceled)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Close stops listening, waits for requests under way until ctx is done, and
// then cuts them. Requests that a fault holds up are cut at once.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.up == nil {
		return nil
	}
	up := s.up
	s.up = nil
	s.cancel()
	err := up.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, up.Close())
	}
	<-s.done
	if err != nil {
		return fmt.Errorf("ingest: close: %w", err)
	}
	return nil
}
