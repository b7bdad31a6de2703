package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/tracesmith/tracesmith/internal/loopback"
)

// Server is a Handler with a listener on loopback.
type Server struct {
	*Handler
	addr   string
	up     *http.Server
	cancel context.CancelFunc
	done   chan struct{}
}

// Start listens on addr, which must be on loopback, and serves until Close. Port 0 is
// any free one.
func Start(cfg Config, addr string) (*Server, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || !loopback.Is(host) {
		return nil, fmt.Errorf("web: listen on %s: only a loopback address is served, such as 127.0.0.1:0", addr)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("web: listen: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{Handler: New(cfg), addr: listener.Addr().String(), cancel: cancel, done: make(chan struct{})}
	s.up = &http.Server{
		Handler:           s.Handler,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	loopback.CutSilent(s.up)
	go func() {
		defer close(s.done)
		_ = s.up.Serve(listener) // it returns when the server is closed, by this package alone
	}()
	return s, nil
}

// URL is the address that lets a browser in, with the token in it.
func (s *Server) URL() string { return s.Entry("http://" + s.addr) }

// Close stops listening. Pages that listen to events are cut, other requests are waited
// for until ctx is done.
func (s *Server) Close(ctx context.Context) error {
	s.cancel()
	err := s.up.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.up.Close())
	}
	<-s.done
	if err != nil {
		return fmt.Errorf("web: close: %w", err)
	}
	return nil
}
