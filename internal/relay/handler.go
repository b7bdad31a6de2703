package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/loopback"
)

// Bounds of a request that is looked into. A larger one goes on unread.
const (
	maxBody    = 32 << 20  // bytes as sent
	maxDecoded = 128 << 20 // and decompressed
)

// Bounds of waiting for the request that tells whose a trace is: clients have several
// under way at once.
const (
	riddleWait = 400 * time.Millisecond
	riddlePoll = 20 * time.Millisecond
)

// DropAttachment is the reason of the loss of a file that belongs to a run which the
// relay took up.
const DropAttachment = "attachment"

// DropUnreadable is the reason of the loss of a run, or of a whole request, that is Deep
// Agents Code's and cannot be read.
const DropUnreadable = "unreadable"

// handler takes up the runs of Deep Agents Code and sends everything else on.
type handler struct {
	intake  *intake
	forward *forwarder
	token   string // of this install
	key     string // Tracesmith's own; empty: it has none
	wake    func(sessions []string)
	log     *slog.Logger
	last    *atomic.Int64 // when the newest request came, in nanoseconds since 1970
}

// ServeHTTP serves one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.last.Store(h.intake.now().UnixNano())
	ours, swap := h.trusts(r)
	if r.Method == http.MethodGet && pathOf(r) == "/info" {
		h.forward.info(w, r, swap)
		return
	}
	if !ours || !writesRuns(r) && !sendsSpans(r) {
		h.forward.send(w, r, swap)
		return
	}
	raw, whole, err := peek(r)
	switch {
	case err != nil:
		answer(w, http.StatusBadRequest, "error", "the body could not be read")
	case !whole && (swap || named(r, raw)):
		h.drop(journal.DropTooLarge, 1)
		_, _ = io.CopyN(io.Discard, r.Body, 2*maxBody) // so that the client comes to read the answer
		answer(w, http.StatusRequestEntityTooLarge, "error", "the body is too large to be looked into")
	case !whole:
		h.forward.send(w, r, swap)
	case sendsSpans(r):
		h.unread(w, r, raw, swap, http.StatusUnsupportedMediaType, "spans are not taken: have the agent trace without OpenTelemetry")
	default:
		h.take(w, r, raw, swap)
	}
}

// take keeps the runs of Deep Agents Code that a body holds, and sends the rest on.
func (h *handler) take(w http.ResponseWriter, r *http.Request, raw []byte, swap bool) {
	writes, err := ingest.Decode(r, raw, ingest.Limits{Wire: maxBody, Decoded: maxDecoded})
	if err != nil {
		h.unread(w, r, raw, swap, ingest.Status(err), "the body could not be read")
		return
	}
	s := h.tell(r.Context(), writes)
	if s.open && swap { // the token is the agent's: what it sends next says more
		answer(w, http.StatusServiceUnavailable, "error", "the root of a run has not come yet: send it again")
		return
	}
	if len(s.ours)+len(s.lost) > 0 || swap {
		s.lost, s.unsure = append(s.lost, s.unsure...), nil
	}
	if len(s.ours)+len(s.lost) == 0 {
		h.forward.sendBody(w, r, raw, swap)
		return
	}
	// A client that goes away does not undo what it sent.
	sessions, err := h.intake.keep(s.ours, peerOf(r.Context()))
	h.wake(sessions)
	if err != nil {
		h.log.Error("relay: not kept", "runs", len(s.ours), "error", err.Error())
		answer(w, http.StatusInternalServerError, "error", "the runs could not be kept")
		return
	}
	h.drop(DropUnreadable, len(s.lost))
	others := s.others + writes.Dropped[ingest.PartFeedback] + writes.Dropped[ingest.PartUnknown]
	if others == 0 {
		h.drop(DropAttachment, writes.Dropped[ingest.PartAttachment])
		answer(w, http.StatusAccepted, "message", "Runs batch ingested")
		return
	}
	rest, attachments, err := without(r, raw, append(s.ours, s.lost...))
	if err != nil {
		h.log.Error("relay: not split", "others", others, "error", err.Error())
		answer(w, http.StatusInternalServerError, "error", "the other runs could not be sent on")
		return
	}
	h.drop(DropAttachment, attachments)
	for _, stale := range []string{"Content-Encoding", "X-Pre-Compressed-Size", "X-Post-Compressed-Size"} {
		r.Header.Del(stale)
	}
	h.forward.sendBody(w, r, rest, swap)
}

// unread serves a request that writes runs and cannot be looked into. Of another program's
// LangSmith is the judge. What may be Deep Agents Code's would go on with its secrets: it
// is lost, and answered with a status and why.
func (h *handler) unread(w http.ResponseWriter, r *http.Request, raw []byte, swap bool, status int, why string) {
	if !swap && !named(r, raw) {
		h.forward.sendBody(w, r, raw, swap)
		return
	}
	h.drop(DropUnreadable, 1)
	answer(w, status, "error", why)
}

// named reports whether a body speaks of Deep Agents Code, as far as it can be read.
func named(r *http.Request, raw []byte) bool {
	text, _ := ingest.Plain(r.Header, raw, ingest.Limits{Wire: int64(len(raw)), Decoded: maxDecoded}) // of one cut short: what there is
	return bytes.Contains(text, []byte(Integration)) || bytes.Contains(raw, []byte(Integration))
}

// drop counts a loss.
func (h *handler) drop(reason string, n int) {
	if err := h.intake.state.Drop(reason, n); err != nil {
		h.log.Error("drop not counted", "reason", reason, "count", n)
	}
}

// tell sorts what a request writes. A run of a graph whose root nobody has seen may be
// anybody's: the request with the root may be a moment behind.
func (h *handler) tell(ctx context.Context, writes ingest.Writes) sorted {
	s := h.intake.sort(writes)
	if !s.open {
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, riddleWait)
	defer cancel()
	for s.open {
		select {
		case <-ctx.Done():
			return s
		case <-time.After(riddlePoll):
			s = h.intake.sort(writes)
		}
	}
	return s
}

// trusts reports whether a client may have runs delivered in Tracesmith's name: it has
// the token of this install, or Tracesmith's own key. swap says that its key is the
// token, which LangSmith knows nothing of.
func (h *handler) trusts(r *http.Request) (ours, swap bool) {
	key := strings.TrimSpace(r.Header.Get("X-Api-Key"))
	if key == "" {
		key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	swap = loopback.Shown(key, h.token)
	return swap || loopback.Shown(key, h.key), swap
}

// pathOf is a request's path in LangSmith, whose spellings of it are several.
func pathOf(r *http.Request) string {
	return strings.TrimPrefix(strings.TrimSuffix(r.URL.Path, "/"), "/api/v1")
}

// writesRuns reports whether a request is one of those that write runs.
func writesRuns(r *http.Request) bool {
	path := pathOf(r)
	switch r.Method {
	case http.MethodPost:
		return path == "/runs" || path == "/runs/batch" || path == "/runs/multipart"
	case http.MethodPatch:
		return strings.HasPrefix(path, "/runs/")
	}
	return false
}

// sendsSpans reports whether a request brings runs as OpenTelemetry's spans.
func sendsSpans(r *http.Request) bool {
	return r.Method == http.MethodPost && pathOf(r) == "/otel/v1/traces"
}

// peek reads a request's body. Of one that is too large raw is the beginning, and it is
// left to be read whole: whole is false.
func peek(r *http.Request) (raw []byte, whole bool, err error) {
	body := r.Body
	raw, err = io.ReadAll(io.LimitReader(body, maxBody+1))
	if err != nil {
		return nil, false, err
	}
	if len(raw) <= maxBody {
		return raw, true, nil
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(raw), body), body}
	return raw, false, nil
}

func answer(w http.ResponseWriter, status int, key, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{key: text}) // the client may be gone
}

// peerKey is what a connection's client is kept under in the context.
type peerKey struct{}

// peerOf is the process at the other end of a request's connection, where the system
// tells.
func peerOf(ctx context.Context) journal.Proc {
	if find, ok := ctx.Value(peerKey{}).(func() journal.Proc); ok {
		return find()
	}
	return journal.Proc{}
}
