package ingest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"net/http/httptest"

	"github.com/tracesmith/tracesmith/internal/ingest"
)

func TestAScriptedAnswerIsGivenAsOftenAsItSays(t *testing.T) {
	s := start(t, ingest.Config{Faults: []ingest.Fault{
		{},
		{Status: 429, RetryAfter: "7", Times: 2},
		{Status: 413, Path: "/runs/batch"},
		{Status: 502, Body: "<html>", Skip: 1},
	}})
	body := form(post(rootID, rootRun))
	want(t, s, 500, request{body: body})
	for range 2 {
		if a := want(t, s, 429, request{body: body}); a.header.Get("Retry-After") != "7" {
			t.Errorf("%v", a.header)
		}
	}
	want(t, s, 202, request{body: body}) // the 502 skips it
	want(t, s, 413, request{path: "/runs/batch", body: "{}"})
	if a := want(t, s, 502, request{body: body}); a.body != "<html>" {
		t.Errorf("%q", a.body)
	}
	want(t, s, 409, request{body: body})
	if stats := s.Stats(); stats.Faults != 5 || stats.Posts != 1 || stats.Requests != 7 || stats.Statuses[429] != 2 {
		t.Errorf("%+v", stats)
	}
}

func TestEveryStatusCanBeScripted(t *testing.T) {
	s := start(t, ingest.Config{})
	for _, status := range []int{400, 401, 403, 404, 408, 409, 413, 415, 422, 425, 429, 500, 502, 503, 504} {
		s.Script(ingest.Fault{Status: status, Times: -1})
		for range 2 {
			want(t, s, status, request{body: form(post(rootID, rootRun))})
		}
	}
	if n := s.Stats().Posts; n != 0 {
		t.Errorf("%d posts stored", n)
	}
	s.Script()
	want(t, s, 202, request{body: form(post(rootID, rootRun))})
}

func TestInfoIsHitOnlyByName(t *testing.T) {
	s := start(t, ingest.Config{Faults: []ingest.Fault{{Times: -1}, {Path: "/info", Status: 503}}})
	get := request{method: "GET", path: "/info"}
	want(t, s, 503, get)
	want(t, s, 200, get)
}

func TestACutConnectionStoresOnlyWhatItSays(t *testing.T) {
	big := form(post(rootID, rootRun), part{name: "post." + rootID + ".inputs", body: `{"a":"` + strings.Repeat("a", 256<<10) + `"}`})
	for kind, stored := range map[ingest.FaultKind]int{ingest.FaultReset: 0, ingest.FaultLost: 1, ingest.FaultHang: 0} {
		t.Run(string(kind), func(t *testing.T) {
			s := start(t, ingest.Config{Faults: []ingest.Fault{{Kind: kind, Delay: time.Millisecond}}})
			if a, err := send(t, s, request{body: big}); err == nil {
				t.Errorf("answered %d", a.status)
			}
			if n := s.Stats().Posts; n != stored {
				t.Errorf("%d stored, want %d", n, stored)
			}
			want(t, s, map[int]int{0: 202, 1: 409}[stored], request{body: big})
		})
	}
}

func TestCloseCutsWhatAFaultHoldsUp(t *testing.T) {
	s := start(t, ingest.Config{Faults: []ingest.Fault{{Kind: ingest.FaultHang}, {Kind: ingest.FaultSlow, Delay: time.Hour}}})
	failed := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := send(t, s, request{body: form(post(rootID, rootRun))})
			failed <- err
		}()
	}
	for s.Stats().Faults < 2 {
		time.Sleep(time.Millisecond)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	<-failed
	<-failed
}

func TestAHungRequestEndsWithItsClient(t *testing.T) {
	s := start(t, ingest.Config{Faults: []ingest.Fault{{Kind: ingest.FaultHang}}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	r := httptest.NewRequestWithContext(ctx, "POST", "/runs/multipart", strings.NewReader(""))
	go func() {
		defer close(done)
		defer func() { recover() }() // the abort that net/http would take
		s.Handler.ServeHTTP(httptest.NewRecorder(), r)
	}()
	cancel()
	<-done
}

func TestASlowAnswerComesAfterItsDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := ingest.New(ingest.Config{Faults: []ingest.Fault{{Kind: ingest.FaultSlow, Delay: time.Minute}}})
		r := httptest.NewRequest("POST", "/runs/multipart", strings.NewReader(form(post(rootID, rootRun))))
		r.Header.Set("Content-Type", multipart)
		w := httptest.NewRecorder()
		began := time.Now()
		h.ServeHTTP(w, r)
		if took := time.Since(began); took != time.Minute || w.Code != 202 {
			t.Errorf("%d after %s", w.Code, took)
		}
	})
}
