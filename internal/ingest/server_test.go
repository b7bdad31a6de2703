package ingest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestOnlyLoopbackIsServed(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "example.com:80"} {
		if s, err := ingest.Start(ingest.Config{}, addr); err == nil {
			_ = s.Close(context.Background())
			t.Errorf("%s is served", addr)
		}
	}
}

func TestWebPagesAreKeptOut(t *testing.T) {
	s := start(t, ingest.Config{})
	body := form(post(rootID, rootRun))
	want(t, s, 403, request{body: body, header: map[string]string{"Host": "rebound.example:80"}})
	want(t, s, 403, request{body: body, header: map[string]string{"Origin": "https://page.example"}})
	want(t, s, 403, request{body: body, header: map[string]string{"Sec-Fetch-Site": "cross-site"}})
	if n := s.Stats().Requests; n != 0 {
		t.Errorf("%d requests got through", n)
	}
	for _, host := range []string{"localhost:1", "127.0.0.1", "[::1]:1", "[::1]"} {
		want(t, s, 200, request{method: "GET", path: "/info", header: map[string]string{"Host": host}})
	}
}

func TestARefusedConnectionComesBackOnTheSamePort(t *testing.T) {
	s := start(t, ingest.Config{})
	url := s.URL()
	for range 2 {
		if err := s.Refuse(); err != nil {
			t.Fatal(err)
		}
		if _, err := send(t, s, request{method: "GET", path: "/info"}); err == nil {
			t.Fatal("answered while it is down")
		}
		if err := s.Resume(); err != nil {
			t.Fatal(err)
		}
		want(t, s, 200, request{method: "GET", path: "/info"})
	}
	if s.URL() != url {
		t.Errorf("%s became %s", url, s.URL())
	}
}

// broken is a sink that cannot store.
type broken struct{ ingest.Memory }

func (*broken) Apply(context.Context, []runtypes.Wire, []runtypes.Wire) error {
	return errors.New("disk full: /home/dev")
}

func TestASinksTroubleIsA500WithoutItsWords(t *testing.T) {
	s := start(t, ingest.Config{Sink: &broken{}})
	a := want(t, s, 500, request{body: form(post(rootID, rootRun))})
	if strings.Contains(a.body, "home") || s.Stats().Posts != 0 || s.Memory() != nil {
		t.Errorf("%s %+v", a.body, s.Stats())
	}
}
