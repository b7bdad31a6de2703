package web

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"

	"github.com/tracesmith/tracesmith/internal/store"
)

// Handler serves the page and its API. It is an http.Handler.
type Handler struct {
	cfg    Config
	mux    *http.ServeMux
	events *hub
}

// New returns a Handler.
func New(cfg Config) *Handler {
	h := &Handler{cfg: cfg.withDefaults(), mux: http.NewServeMux()}
	h.events = &hub{changed: h.changed}
	h.mux.HandleFunc("GET /{file...}", h.file)
	for route, answer := range map[string]func(*http.Request) (any, error){
		"threads":      h.threads,
		"threads/{id}": h.thread,
		"turns":        h.turns,
		"traces/{id}":  h.trace,
		"runs/{id}":    h.run,
		"totals":       h.totals,
		"about":        h.about,
	} {
		h.mux.HandleFunc("GET /api/"+route, asJSON(answer))
	}
	for route, serve := range map[string]func(http.ResponseWriter, *http.Request) error{
		"runs/{id}/raw":           h.raw,
		"traces/{id}/export.html": h.export,
		"traces/{id}/langsmith":   h.elsewhere,
		"events":                  h.listen,
		"{rest...}":               func(http.ResponseWriter, *http.Request) error { return store.ErrNotFound },
	} {
		h.mux.HandleFunc("GET /api/"+route, orError(serve))
	}
	return h
}

// Entry is the address that lets a browser in, on the base address of the server.
func (h *Handler) Entry(base string) string {
	return base + "/?" + url.Values{"token": {h.cfg.Token}}.Encode()
}

// contentType is that of one of the page's files: the system's own list may be anything.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	}
	return "text/plain; charset=utf-8"
}

// file serves the page's own files.
func (h *Handler) file(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	if name == "" {
		name = "index.html"
	}
	data, err := fs.ReadFile(static, "static/"+name)
	if err != nil {
		refuse(w, http.StatusNotFound, "no such file")
		return
	}
	w.Header().Set("Content-Type", contentType(name))
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) // whoever asked may be gone
}

// badRequest is a question that cannot be understood. Its text is the answer.
type badRequest struct{ text string }

func (e *badRequest) Error() string { return e.text }

func asJSON(answer func(*http.Request) (any, error)) http.HandlerFunc {
	return orError(func(w http.ResponseWriter, r *http.Request) error {
		v, err := answer(r)
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, v)
	})
}

func orError(serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := serve(w, r)
		var bad *badRequest
		switch {
		case err == nil || r.Context().Err() != nil:
		case errors.As(err, &bad):
			refuse(w, http.StatusBadRequest, bad.text)
		case errors.Is(err, store.ErrNotFound):
			refuse(w, http.StatusNotFound, "not found")
		default: // it may quote what is stored
			refuse(w, http.StatusInternalServerError, "the store could not be read: see tracesmith doctor")
		}
	}
}

func refuse(w http.ResponseWriter, status int, line string) {
	_ = writeJSON(w, status, map[string]string{"error": line}) // it encodes
}

// writeJSON answers with JSON in which <, > and & are escaped.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // whoever asked may be gone
	return nil
}

// attach makes the answer a file to keep.
func attach(w http.ResponseWriter, name, kind, text string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = io.WriteString(w, text) // whoever asked may be gone
}
