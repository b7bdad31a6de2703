package modelserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxBody     = 32 << 20 // what the API itself takes
	maxRequests = 10_000   // kept for Requests; the oldest go first
)

// Config says what the model does. The zero value plays the built-in script for
// no repository in particular.
type Config struct {
	Dir       string              // absolute path of the repository the agent works in
	Scenarios map[string]Scenario // in addition to the built-in ones, or in their place
}

// Server is a scripted Messages API. It is safe for concurrent use.
type Server struct {
	scenarios map[string]Scenario
	listener  net.Listener
	http      *http.Server
	stop      chan struct{} // closed by Close: lets go of held streams
	served    chan struct{} // closed when the listener's goroutine has returned
	stopOnce  sync.Once
	held      atomic.Int64

	mu       sync.Mutex
	ids      int
	attempts map[string]int // by session, scenario and step
	requests []Request
}

// Start listens on a free loopback port and serves until Close.
func Start(cfg Config) (*Server, error) {
	scenarios := Script(cfg.Dir)
	for name, scenario := range cfg.Scenarios {
		if len(scenario) == 0 {
			return nil, fmt.Errorf("modelserver: scenario %q has no steps", name)
		}
		scenarios[name] = scenario
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("modelserver: listen: %w", err)
	}
	s := &Server{
		scenarios: scenarios,
		listener:  listener,
		stop:      make(chan struct{}),
		served:    make(chan struct{}),
		attempts:  make(map[string]int),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", s.countTokens)
	mux.HandleFunc("POST /v1/responses", s.responses)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		s.refuse(w, Failure{Status: http.StatusNotFound, Type: "not_found_error", Message: "Not found"})
	})
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // always an error: ErrServerClosed, after Close
	}()
	return s, nil
}

// URL is what ANTHROPIC_BASE_URL is set to.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Requests returns the calls for a reply so far, oldest first, each once its
// answer has been written.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Held returns how many streams are open and have nothing more to say.
func (s *Server) Held() int { return int(s.held.Load()) }

// Close ends every stream and stops listening.
func (s *Server) Close() error {
	s.stopOnce.Do(func() { close(s.stop) })
	err := s.http.Close()
	<-s.served
	if err != nil {
		return fmt.Errorf("modelserver: close: %w", err)
	}
	return nil
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	b, ok := s.read(w, r)
	if !ok {
		return
	}
	name, n := b.place(s.scenarios)
	scenario, known := s.scenarios[name]
	if !known {
		s.refuse(w, Failure{
			Status: http.StatusBadRequest, Type: "invalid_request_error",
			Message: fmt.Sprintf("the script has no scenario %q", name),
		})
		return
	}
	step := scenario.step(n)
	seen := Request{
		At: time.Now(), Session: r.Header.Get("X-Claude-Code-Session-Id"),
		Scenario: name, Step: n, Model: b.Model, Stream: b.Stream, Messages: len(b.Messages),
	}
	for _, tool := range b.Tools {
		seen.Tools = append(seen.Tools, tool.Name)
	}
	if f := step.Failure; f != nil && s.stillFails(seen, f.Times) {
		seen.Status = f.Status
		s.refuse(w, *f)
		s.record(seen)
		return
	}
	seen.Status, seen.MessageID, seen.Usage = http.StatusOK, s.newID("msg_"), step.Usage
	out := &reply{
		id: seen.MessageID, model: b.Model, step: step,
		toolID: func() string { return s.newID("toolu_") }, hold: s.hold,
	}
	w.Header().Set("Request-Id", s.newID("req_"))
	if !b.Stream {
		writeJSON(w, http.StatusOK, out.document())
		s.record(seen)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	out.stream(r.Context(), w)
	seen.Cut = !out.whole
	s.record(seen)
}

// countTokens answers as if every request were a thousand tokens long.
func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	if !s.admit(w, r) {
		return
	}
	writeJSON(w, http.StatusOK, fields{"input_tokens": 1000})
}

// admit refuses a request without credentials, as the API does.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("X-Api-Key") == "" && r.Header.Get("Authorization") == "" {
		s.refuse(w, Failure{
			Status: http.StatusUnauthorized, Type: "authentication_error", Message: "x-api-key header is required",
		})
		return false
	}
	return true
}

func (s *Server) read(w http.ResponseWriter, r *http.Request) (*body, bool) {
	if !s.admit(w, r) {
		return nil, false
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		s.refuse(w, Failure{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: err.Error()})
		return nil, false
	}
	if len(raw) > maxBody {
		s.refuse(w, Failure{
			Status: http.StatusRequestEntityTooLarge, Type: "request_too_large", Message: "Request exceeds the maximum size",
		})
		return nil, false
	}
	b, err := decode(raw)
	if err != nil {
		s.refuse(w, Failure{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: err.Error()})
		return nil, false
	}
	return b, true
}

// hold keeps a stream open until its client leaves or the server closes.
func (s *Server) hold(ctx context.Context) {
	s.held.Add(1)
	defer s.held.Add(-1)
	select {
	case <-ctx.Done():
	case <-s.stop:
	}
}

// stillFails counts an attempt at a step and says whether it is to fail.
func (s *Server) stillFails(r Request, times int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Session + " " + r.Scenario + " " + strconv.Itoa(r.Step)
	s.attempts[key]++
	return times == 0 || s.attempts[key] <= times
}

func (s *Server) refuse(w http.ResponseWriter, f Failure) {
	id := s.newID("req_")
	for key, values := range f.Header {
		w.Header()[key] = values
	}
	w.Header().Set("Request-Id", id)
	writeJSON(w, f.Status, fields{
		"type": "error", "error": fields{"type": f.Type, "message": f.Message}, "request_id": id,
	})
}

// newID looks like the API's ids and counts up, so that a log is easy to follow.
func (s *Server) newID(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("%s01%022d", prefix, s.ids)
}

func (s *Server) record(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) >= maxRequests {
		s.requests = s.requests[1:]
	}
	s.requests = append(s.requests, r)
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // a client that hung up cannot be told
}
