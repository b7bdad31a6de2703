package tracehttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/integrations/tracehttp"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func identity() runtypes.Identity {
	return runtypes.Identity{
		Integration: "my-agent", Runtime: "My Agent", RuntimeVersion: "1.2.3", ThreadID: "t",
		Repo: runtypes.Repo{Branch: "main"}, WorkingDirectory: "/home/dev/r",
	}
}

// visit has an agent's tool ask a server that joins the trace, and returns all runs.
func visit(t *testing.T, serve http.HandlerFunc, ask func(ctx context.Context, client *http.Client, url string)) []runtypes.Run {
	t.Helper()
	sink := &runtypes.Recorder{}
	done := make(chan struct{}, 1)
	joins := tracehttp.Handler(tracehttp.Options{Sink: sink}, serve)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { done <- struct{}{} }()
		joins.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = nil
	server.Start()
	base := &http.Transport{}
	turn := runtypes.StartTurn(sink, identity(), "x", runtypes.WithMetadata(map[string]any{"team": "blue"}))
	tool := turn.Tool("search", "", nil)
	ask(tool.Context(t.Context()), &http.Client{Transport: &tracehttp.Transport{Base: base}}, server.URL)
	<-done
	base.CloseIdleConnections()
	server.Close()
	tool.End("ok")
	turn.End("y")
	runs, err := sink.Runs()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range runtypes.Validate(runs) {
		t.Error(v)
	}
	return runs
}

func get(ctx context.Context, client *http.Client, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/index?q=secret", nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func TestAServerJoinsTheTraceOfTheToolThatCallsIt(t *testing.T) {
	runs := visit(t, func(w http.ResponseWriter, r *http.Request) {
		runtypes.FromContext(r.Context()).Tool("lookup", "", nil).End("hit")
		_, _ = io.WriteString(w, "hit")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
	}, func(ctx context.Context, client *http.Client, url string) {
		if body, err := get(ctx, client, url); body != "hit" || err != nil {
			t.Errorf("%q %v", body, err)
		}
	})
	if len(runs) != 4 {
		t.Fatalf("%d runs", len(runs))
	}
	joined := runs[2]
	if joined.Name != "GET /index" || joined.Kind != runtypes.KindChain || joined.ParentID != runs[1].ID ||
		string(joined.Outputs) != `{"status":200}` || strings.Contains(string(joined.Inputs), "secret") {
		t.Errorf("%+v, inputs %s, outputs %s", joined, joined.Inputs, joined.Outputs)
	}
	for _, r := range runs {
		if r.Identity != runs[0].Identity || r.Metadata["team"] != "blue" {
			t.Errorf("%s: %+v %v", r.Name, r.Identity, r.Metadata)
		}
	}
}

func TestARequestThatGoesWrongIsAFailure(t *testing.T) {
	f := func(want string, interrupted bool, serve http.HandlerFunc, ask func(context.Context, *http.Client, string)) {
		t.Helper()
		r := visit(t, serve, ask)[2]
		if r.Error != want || r.Interrupted != interrupted {
			t.Errorf("error %q, interrupted %v, want %q", r.Error, r.Interrupted, want)
		}
	}
	ask := func(ctx context.Context, client *http.Client, url string) { _, _ = get(ctx, client, url) }
	f("502 Bad Gateway", false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, ask)
	f("", false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, ask)
	f("panic: net/http: abort Handler", false, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ask)

	left := make(chan struct{})
	f("context canceled", true, func(_ http.ResponseWriter, r *http.Request) {
		close(left)
		<-r.Context().Done()
	}, func(ctx context.Context, client *http.Client, url string) {
		ctx, cancel := context.WithCancel(ctx)
		go func() { <-left; cancel() }()
		if _, err := get(ctx, client, url); !errors.Is(err, context.Canceled) {
			t.Errorf("the caller got %v", err)
		}
	})
}

func TestARequestWithoutATracePassesThrough(t *testing.T) {
	sink := &runtypes.Recorder{}
	next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/plain" && runtypes.FromContext(r.Context()) != nil {
			t.Error("a turn out of nothing")
		}
	})
	ask := func(o tracehttp.Options, path string, header http.Header) {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header = header
		tracehttp.Handler(o, next).ServeHTTP(httptest.NewRecorder(), r)
	}
	ask(tracehttp.Options{Sink: sink}, "/plain", http.Header{})
	ask(tracehttp.Options{Sink: sink}, "/plain", http.Header{"Langsmith-Trace": {"nonsense"}})
	ask(tracehttp.Options{}, "/plain", http.Header{})
	if runs, err := sink.Runs(); len(runs) != 0 || err != nil {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	ask(tracehttp.Options{Sink: sink, Alone: true, Identity: identity(), Name: func(*http.Request) string { return "search" }}, "/x", http.Header{})
	if runs, _ := sink.Runs(); len(runs) != 1 || runs[0].Kind != runtypes.KindRoot || runs[0].Name != "search" {
		t.Errorf("%+v", runs)
	}
}

func TestTheBaggageOfOthersStays(t *testing.T) {
	turn := runtypes.StartTurn(&runtypes.Recorder{}, identity(), "x")
	header := http.Header{"Baggage": {"a=1", "b=2"}}
	tracehttp.Inject(runtypes.NewContext(t.Context(), turn), header)
	if got := header.Get("Baggage"); !strings.HasPrefix(got, "a=1,b=2,langsmith-metadata=") || len(header["Baggage"]) != 1 {
		t.Errorf("%q", header["Baggage"])
	}
	before := http.Header{"Baggage": {"a=1"}}
	tracehttp.Inject(t.Context(), before)
	if len(before) != 1 {
		t.Errorf("%v", before)
	}
}
