package web

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tracesmith/tracesmith/internal/store"
)

// Bounds of a question.
const (
	maxValue = store.MaxName // bytes of a filter
	pageSize = 50            // turns or threads of a page
	maxPage  = 200
)

// filters reads the filters of a question: q, agent, repo, branch, failed, interrupted,
// failed_steps, since and until.
func (h *Handler) filters(v url.Values) (store.Query, error) {
	q := store.Query{
		Words: v.Get("q"), Agent: v.Get("agent"), Repo: v.Get("repo"), Branch: v.Get("branch"),
		Failed: v.Get("failed") == "1", Interrupted: v.Get("interrupted") == "1",
		FailedSteps: v.Get("failed_steps") == "1",
	}
	for _, text := range []string{q.Words, q.Agent, q.Repo, q.Branch} {
		if len(text) > maxValue || !utf8.ValidString(text) {
			return store.Query{}, &badRequest{"a filter is too long or no text"}
		}
	}
	var err error
	if q.Since, _, err = h.moment(v.Get("since")); err != nil {
		return store.Query{}, err
	}
	until, day, err := h.moment(v.Get("until"))
	if err != nil {
		return store.Query{}, err
	}
	if day { // the whole of it
		until = until.AddDate(0, 0, 1)
	}
	q.Until = until
	return q, nil
}

// moment reads a time, or a day: its beginning here.
func (h *Handler) moment(text string) (at time.Time, day bool, err error) {
	if text == "" {
		return at, false, nil
	}
	if at, err = time.ParseInLocation(time.DateOnly, text, h.cfg.Zone); err == nil {
		return at, true, nil
	}
	if at, err = time.Parse(time.RFC3339Nano, text); err == nil {
		return at, false, nil
	}
	return time.Time{}, false, &badRequest{"a time is written as 2026-11-30 or 2026-11-30T12:00:00Z"}
}

// limit reads how long a page is to be.
func limit(v url.Values) (int, error) {
	text := v.Get("limit")
	if text == "" {
		return pageSize, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPage {
		return 0, &badRequest{"limit is from 1 to " + strconv.Itoa(maxPage)}
	}
	return n, nil
}

// cursor is a place in a list as it goes to the page and back.
type cursor struct {
	Start int64  `json:"s"` // microseconds
	ID    string `json:"i"`
	AsOf  int64  `json:"a,omitempty"`
}

// maxCursor is longer than any cursor: JSON may write six bytes for one of a thread's id,
// and base64 four for three.
const maxCursor = 10 * store.MaxName

// writeCursor is nil at the end of a list.
func writeCursor(place *store.Place) *string {
	if place == nil {
		return nil
	}
	c := cursor{Start: place.Start.UnixMicro(), ID: place.ID}
	if !place.AsOf.IsZero() {
		c.AsOf = place.AsOf.UnixMicro()
	}
	raw, err := json.Marshal(c)
	if err != nil { // numbers and a text
		return nil
	}
	text := base64.RawURLEncoding.EncodeToString(raw)
	return &text
}

func readCursor(text string) (store.Place, error) {
	if text == "" {
		return store.Place{}, nil
	}
	bad := &badRequest{"cursor is what an answer gave as next"}
	if len(text) > maxCursor {
		return store.Place{}, bad
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return store.Place{}, bad
	}
	var c cursor
	if json.Unmarshal(raw, &c) != nil || c.ID == "" {
		return store.Place{}, bad
	}
	place := store.Place{Start: time.UnixMicro(c.Start), ID: c.ID}
	if c.AsOf != 0 {
		place.AsOf = time.UnixMicro(c.AsOf)
	}
	return place, nil
}

// page reads what a question for a list says: which, from where, how many.
func (h *Handler) page(r *http.Request) (q store.Query, after store.Place, most int, err error) {
	v := r.URL.Query()
	if q, err = h.filters(v); err != nil {
		return q, after, 0, err
	}
	if after, err = readCursor(v.Get("cursor")); err != nil {
		return q, after, 0, err
	}
	most, err = limit(v)
	return q, after, most, err
}
