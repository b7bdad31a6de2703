package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/tracesmith/tracesmith/internal/loopback"
)

// The routes, as Fault.Path and Stats.Routes name them.
const (
	pathInfo      = "/info"
	pathMultipart = "/runs/multipart"
	pathBatch     = "/runs/batch"
	pathRuns      = "/runs"
	pathRun       = "/runs/{id}"
	pathOTel      = "/otel/v1/traces"
)

// version is what the server calls itself in /info: the deployment whose
// behaviour it follows.
const version = "0.16.0"

// Handler serves the protocol. It is an http.Handler.
type Handler struct {
	cfg    Config
	mux    *http.ServeMux
	memory *Memory // the sink, if the caller gave none
	script script
	stats  *counters

	accepting sync.Mutex // makes asking the sink and telling it one step
}

// New returns a Handler.
func New(cfg Config) *Handler {
	cfg.Limits = cfg.Limits.withDefaults()
	h := &Handler{cfg: cfg, mux: http.NewServeMux(), stats: newCounters()}
	if cfg.Sink == nil {
		h.memory = &Memory{}
		h.cfg.Sink = h.memory
	}
	h.script.set(cfg.Faults)
	if cfg.Page != nil {
		h.mux.Handle("GET /", cfg.Page)
	}
	for _, base := range []string{"", "/api/v1"} {
		h.mux.HandleFunc("GET "+base+pathInfo, h.info)
		h.route("POST", base, pathMultipart, func(r *http.Request, body []byte) (*batch, error) {
			return decodeMultipart(body, r.Header.Get("Content-Type"))
		})
		h.route("POST", base, pathBatch, func(_ *http.Request, body []byte) (*batch, error) {
			return decodeBatch(body)
		})
		h.route("POST", base, pathRuns, func(_ *http.Request, body []byte) (*batch, error) {
			return decodePost(body)
		})
		h.route("PATCH", base, pathRun, func(r *http.Request, body []byte) (*batch, error) {
			return decodePatch(body, r.PathValue("id"))
		})
		h.route("POST", base, pathOTel, func(r *http.Request, body []byte) (*batch, error) {
			return decodeOTel(body, r.Header.Get("Content-Type"), r.Header.Get("Langsmith-Project"))
		})
	}
	return h
}

// ServeHTTP serves one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Memory is the sink that New made, nil if it was given another.
func (h *Handler) Memory() *Memory { return h.memory }

// Script replaces the faults that are still to come. With none the server
// behaves.
func (h *Handler) Script(faults ...Fault) { h.script.set(faults) }

// Stats returns what the handler has seen so far.
func (h *Handler) Stats() Stats { return h.stats.snapshot() }

type decoder func(r *http.Request, body []byte) (*batch, error)

func (h *Handler) route(method, base, path string, decode decoder) {
	h.mux.HandleFunc(method+" "+base+path, func(w http.ResponseWriter, r *http.Request) {
		h.stats.update(func(s *Stats) { s.Requests++; s.Routes[path]++ })
		h.ingest(counted{w, h.stats}, r, path, decode)
	})
}

// ingest serves a route that takes runs.
func (h *Handler) ingest(w http.ResponseWriter, r *http.Request, path string, decode decoder) {
	fault, struck := h.strike(path)
	if struck && !fault.before(w, r) {
		return
	}
	body, wire, err := readBody(r, h.cfg.Limits, h.cfg.Without)
	h.stats.update(func(s *Stats) { s.Wire += wire; s.Decoded += int64(len(body)) })
	if err == nil && h.cfg.Observe != nil {
		h.cfg.Observe(r, body)
	}
	if struck && !fault.after(w, r) {
		return
	}
	if err == nil {
		err = h.serve(r, path, body, decode)
	}
	if struck && fault.Kind == FaultLost {
		cut()
	}
	var refused *refusal
	switch {
	case err == nil && path == pathOTel:
		w.Header().Set("Content-Type", otelType)
		w.WriteHeader(http.StatusOK) // an empty answer: all spans were taken
	case err == nil:
		writeJSON(w, http.StatusAccepted, map[string]string{"message": "Runs batch ingested"})
	case errors.As(err, &refused):
		writeJSON(w, refused.status, map[string]string{"error": refused.message})
	default: // the sink's own trouble, which is none of the client's business
		writeJSON(w, http.StatusInternalServerError, map[string]string{"error": "the runs could not be stored"})
	}
}

func (h *Handler) serve(r *http.Request, path string, body []byte, decode decoder) error {
	if !h.allowed(r) {
		return refuse(http.StatusUnauthorized, "%s", cmp.Or(h.cfg.Refusal, "Invalid token"))
	}
	if path == pathMultipart && h.cfg.Without.Multipart {
		return refuse(http.StatusNotFound, "Not Found")
	}
	b, err := decode(r, body)
	if err != nil {
		return err
	}
	// A client that goes away does not undo what it sent: that is a lost
	// acknowledgement, as with the real one.
	return h.accept(context.WithoutCancel(r.Context()), b, path == pathOTel)
}

// allowed checks the key in constant time.
func (h *Handler) allowed(r *http.Request) bool {
	if h.cfg.Key == "" && len(h.cfg.Keys) == 0 {
		return true
	}
	key := r.Header.Get("X-Api-Key")
	if key == "" {
		key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	return loopback.Shown(key, append([]string{h.cfg.Key}, h.cfg.Keys...)...)
}

// accept stores a checked request, or refuses it as already received. Spans may come again:
// OTLP delivers at least once and has no word for a repetition, so that those that are known
// are passed over.
func (h *Handler) accept(ctx context.Context, b *batch, again bool) error {
	h.accepting.Lock()
	defer h.accepting.Unlock()
	posts, patches, err := h.cfg.Sink.Fresh(ctx, b.posts, b.patches)
	if err != nil {
		return err
	}
	known := b.len() - len(posts) - len(patches)
	if known > 0 {
		h.stats.update(func(s *Stats) { s.Known += known })
	}
	conflict := refuse(http.StatusConflict, "Conflict: payload already received: payloads already received")
	if known > 0 && h.cfg.Conflict == RefuseAll && !again {
		return conflict
	}
	if err := h.cfg.Sink.Apply(ctx, posts, patches); err != nil {
		return err
	}
	h.stats.update(func(s *Stats) {
		s.Posts += len(posts)
		s.Patches += len(patches)
		s.MaxOps = max(s.MaxOps, b.len())
		for name, n := range b.dropped {
			s.Dropped[name] += n
		}
	})
	if known > 0 && !again {
		return conflict
	}
	return nil
}

func (h *Handler) strike(path string) (Fault, bool) {
	fault, struck := h.script.next(path)
	if struck {
		h.stats.update(func(s *Stats) { s.Faults++ })
	}
	return fault, struck
}

// info answers GET /info with the fields an exporter reads.
func (h *Handler) info(w http.ResponseWriter, r *http.Request) {
	h.stats.update(func(s *Stats) { s.Info++ })
	if fault, struck := h.strike(pathInfo); struck && (!fault.before(w, r) || !fault.after(w, r)) {
		return
	}
	if h.cfg.Without.Info {
		writeJSON(w, http.StatusNotFound, map[string]string{"error": "Not Found"})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"version": version,
		"batch_ingest_config": map[string]any{
			"use_multipart_endpoint":    !h.cfg.Without.Multipart,
			"size_limit":                h.cfg.Limits.Ops,
			"size_limit_bytes":          h.cfg.Limits.Bytes,
			"scale_up_qsize_trigger":    1000,
			"scale_up_nthreads_limit":   16,
			"scale_down_nempty_trigger": 4,
		},
		"instance_flags": map[string]any{
			"zstd_compression_enabled": !h.cfg.Without.Zstd,
			"gzip_body_enabled":        !h.cfg.Without.Gzip,
		},
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone: nothing to do
}

// counted counts the statuses that are sent.
type counted struct {
	http.ResponseWriter
	stats *counters
}

func (c counted) WriteHeader(status int) {
	c.stats.update(func(s *Stats) { s.Statuses[status]++ })
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (c counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }
