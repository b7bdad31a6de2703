package web_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/web"
	"github.com/tracesmith/tracesmith/runtypes"
)

// stream is a page that listens.
type stream struct {
	lines *bufio.Scanner
	close func()
}

func (w *world) listen(t *testing.T) *stream {
	t.Helper()
	answer, err := w.http.Do(w.request(t, "/api/events"))
	if err != nil {
		t.Fatal(err)
	}
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("%d %s", answer.StatusCode, kind)
	}
	s := &stream{bufio.NewScanner(answer.Body), func() { answer.Body.Close() }}
	t.Cleanup(s.close)
	if first := s.next(t); first != ": hello" {
		t.Fatalf("%q", first)
	}
	return s
}

// next is the next line that is not empty; none if the stream ended.
func (s *stream) next(t *testing.T) string {
	t.Helper()
	for s.lines.Scan() {
		if line := s.lines.Text(); line != "" {
			return line
		}
	}
	return ""
}

func TestAPageHearsOfATurnAsItGrows(t *testing.T) {
	w := newWorld(t, web.Config{Poll: time.Millisecond})
	w.turn(t, "old", 1, noon, "x")
	one, other := w.listen(t), w.listen(t)
	root, llm, tool := turn("new", 1, noon, "x")
	for _, run := range []*runtypes.Run{root, llm, tool} {
		w.put(t, runtypes.Post, run)
		for _, s := range []*stream{one, other} {
			if got, want := s.next(t), `data: {"changed":["`+root.ID.String()+`"],"removed":[]}`; got != want {
				t.Fatalf("%s, want %s", got, want)
			}
		}
	}
}

func TestAPageHearsOfATurnThatIsForgotten(t *testing.T) {
	w := newWorld(t, web.Config{Poll: time.Millisecond})
	id := w.turn(t, "old", 1, noon, "x")
	s := w.listen(t)
	if _, err := w.store.Forget(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got, want := s.next(t), `data: {"changed":[],"removed":["`+id+`"]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestListeningEndsWithTheServer(t *testing.T) {
	w := newWorld(t, web.Config{Poll: time.Millisecond})
	s := w.listen(t)
	if err := w.server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if line := s.next(t); line != "" {
		t.Errorf("%q", line)
	}
}

func TestTooManyListenersAreRefused(t *testing.T) {
	w := newWorld(t, web.Config{})
	var first *stream
	for i := range 32 {
		if s := w.listen(t); i == 0 {
			first = s
		}
	}
	if text := w.get(t, "/api/events", http.StatusServiceUnavailable); !strings.Contains(text, "too many") {
		t.Error(text)
	}
	first.close()
	for { // its place is free as soon as the server notices
		answer, err := w.http.Do(w.request(t, "/api/events"))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func TestAskingForTheHeadersOfEventsHoldsNoListener(t *testing.T) {
	w := newWorld(t, web.Config{})
	for range 40 { // more than may listen
		r := w.request(t, "/api/events")
		r.Method = http.MethodHead
		if _, header := w.do(t, r, http.StatusOK); header.Get("Content-Type") != "text/event-stream" {
			t.Fatal(header)
		}
	}
	w.listen(t)
}

// Without a first look nothing could be told: the page asks again, and then reads all anew.
func TestAPageIsNotToldThatItIsLiveWhereTheStoreCannotBeRead(t *testing.T) {
	w := newWorld(t, web.Config{})
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first leaves nothing behind
		w.get(t, "/api/events", http.StatusInternalServerError)
	}
}
