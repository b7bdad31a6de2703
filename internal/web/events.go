package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tracesmith/tracesmith/internal/store"
)

// Bounds of listening.
const (
	maxListeners = 32
	heartbeat    = 20 * time.Second // so that a page that is gone is noticed
	eventWithin  = 10 * time.Second // for a page to take an event
)

// changed looks at the store until the context ends, and tells of every change after
// the first look, when it is ready; where that one fails, there is nothing to compare with,
// and it ends.
func (h *Handler) changed(ctx context.Context, ready func(error), tell func(store.Changes)) {
	var watch store.Watch
	ticker := time.NewTicker(h.cfg.Poll)
	defer ticker.Stop()
	_, err := h.cfg.Store.Changed(ctx, &watch)
	ready(err)
	if err != nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// A look that fails, such as at a busy file, is made again.
		if c, err := h.cfg.Store.Changed(ctx, &watch); err == nil && len(c.Written)+len(c.Removed) > 0 {
			tell(c)
		}
	}
}

// hub tells listeners of changes. It looks for them while there is a listener.
type hub struct {
	changed func(ctx context.Context, ready func(error), tell func(store.Changes))

	mu        sync.Mutex
	listeners map[*listener]bool
	stop      context.CancelFunc
	stopped   chan struct{}
}

// listener is a page that listens. What changes while it is busy is put together.
type listener struct {
	wake chan struct{}
	news map[string]bool // by trace: whether it is still there; the hub's lock guards it
}

var errCrowded = errors.New("web: too many listeners")

// join adds a listener. What changes after it returns is told.
func (h *hub) join() (*listener, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.listeners) >= maxListeners {
		return nil, errCrowded
	}
	if len(h.listeners) == 0 {
		h.listeners = map[*listener]bool{}
		ctx, cancel := context.WithCancel(context.Background())
		ready, stopped := make(chan error, 1), make(chan struct{})
		h.stop, h.stopped = cancel, stopped
		go func() {
			defer close(stopped)
			h.changed(ctx, func(err error) { ready <- err }, h.tell)
		}()
		if err := <-ready; err != nil {
			cancel()
			<-stopped
			return nil, err
		}
	}
	l := &listener{wake: make(chan struct{}, 1), news: map[string]bool{}}
	h.listeners[l] = true
	return l, nil
}

// leave takes a listener away, and waits for the look-out to end if it was the last.
func (h *hub) leave(l *listener) {
	h.mu.Lock()
	delete(h.listeners, l)
	stop, stopped := h.stop, h.stopped
	last := len(h.listeners) == 0
	h.mu.Unlock()
	if last {
		stop()
		<-stopped
	}
}

func (h *hub) tell(c store.Changes) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		for _, id := range c.Written {
			l.news[id] = true
		}
		for _, id := range c.Removed {
			l.news[id] = false
		}
		select {
		case l.wake <- struct{}{}:
		default: // it was woken already
		}
	}
}

// told is what a page hears: the ids of turns that were written to, and of those that are
// gone.
type told struct {
	Changed []string `json:"changed"`
	Removed []string `json:"removed"`
}

// take is what happened since the last time.
func (h *hub) take(l *listener) told {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := told{[]string{}, []string{}}
	for _, id := range slices.Sorted(maps.Keys(l.news)) {
		if l.news[id] {
			t.Changed = append(t.Changed, id)
		} else {
			t.Removed = append(t.Removed, id)
		}
	}
	clear(l.news)
	return t
}

// listen streams changes as server-sent events until the page goes away.
func (h *Handler) listen(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return nil // it hears nothing, and holds no listener
	}
	listener, err := h.events.join()
	switch {
	case errors.Is(err, errCrowded):
		refuse(w, http.StatusServiceUnavailable, "too many pages listen")
		return nil
	case err != nil:
		return err
	}
	defer h.events.leave(listener)
	control := http.NewResponseController(w)
	// The server's bound is for a request to be read; this one goes on.
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	alive := time.NewTicker(heartbeat)
	defer alive.Stop()
	line := ": hello\n\n"
	for {
		if control.SetWriteDeadline(time.Now().Add(eventWithin)) != nil {
			return nil
		}
		if _, err := fmt.Fprint(w, line); err != nil || control.Flush() != nil {
			return nil // the page is gone
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-listener.wake:
			text, err := json.Marshal(h.events.take(listener))
			if err != nil {
				return err
			}
			line = "data: " + string(text) + "\n\n"
		case <-alive.C:
			line = ": still here\n\n"
		}
	}
}
