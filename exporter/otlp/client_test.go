package otlp

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

// What LangSmith holds in the end is what its own protocol would have brought, but for what
// the package says is different.
func TestARunArrivesAsTheSameRun(t *testing.T) {
	server := serve(t, ingest.Config{})
	root, llm, tool := turn(1)
	root.Project, root.Tags = "project", []string{"one", "two,three"}
	export(t, client(t, config(server.URL()+"/otel", nil)), post(root), post(llm), post(tool), patch(ended(root)))

	for _, run := range []*runtypes.Run{runtypes.Merge(root, ended(root)), llm, tool} {
		want, err := runtypes.Encode(post(run))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := server.Memory().Run(want.ID)
		if !ok {
			t.Fatalf("%s did not arrive", want.Name)
		}
		wanted, arrived := want.Metadata(), got.Metadata()
		for key, value := range wanted {
			switch value.(type) {
			case []any, map[string]any: // JSON text, but for the usage
				if key != keyUsage {
					raw, _ := runtypes.Marshal(value)
					wanted[key] = string(raw)
				}
			}
		}
		if diff := cmp.Diff(wanted, arrived); diff != "" {
			t.Errorf("%s: metadata:\n%s", want.Name, diff)
		}
		want.Extra, got.Extra, want.Events, got.Events = nil, nil, nil, nil
		if len(want.Tags) > 0 {
			want.Tags[1] = "two;three"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", want.Name, diff)
		}
	}
	if counts := server.Memory().Counts(); counts.Posts != 3 || counts.Patches != 0 {
		t.Errorf("%+v", counts)
	}
}

func TestAnInterruptedTurnIsNoFailure(t *testing.T) {
	server := serve(t, ingest.Config{})
	root, _, tool := turn(1)
	runtypes.Interrupt(root, someTime.Add(time.Minute), "Interrupted by user")
	tool.Error = "exit status 1"
	export(t, client(t, config(server.URL()+"/otel", nil)), post(root), post(tool))
	got, _ := server.Memory().Run(root.ID.String())
	if got.Error != "Interrupted by user" || got.Metadata()["ls_is_error_interrupt"] != true || got.Kind() != runtypes.KindInterrupted {
		t.Errorf("%+v", got)
	}
	if got, _ = server.Memory().Run(tool.ID.String()); got.Error != "exit status 1" {
		t.Errorf("%+v", got)
	}
}

func TestARunThatHasNotEndedIsNotSent(t *testing.T) {
	server := serve(t, ingest.Config{})
	root, llm, _ := turn(1)
	c := client(t, config(server.URL()+"/otel", nil))
	export(t, c, post(root), post(llm))
	if runs := server.Memory().Runs(); len(runs) != 1 || runs[0].ID != llm.ID.String() {
		t.Fatalf("%+v", runs)
	}
	export(t, c, patch(ended(root))) // its post was in another call
	got, ok := server.Memory().Run(root.ID.String())
	if !ok || len(got.Inputs) > 0 || len(got.Outputs) == 0 {
		t.Errorf("%+v", got)
	}
	if stats := c.Stats(); stats.Bare != 1 || stats.Delivered != 2 {
		t.Errorf("%+v", stats)
	}
}

func TestRunsWithoutTheirInputsAreCountedWhenTheyAreSent(t *testing.T) {
	s := &scripted{answers: []func(http.ResponseWriter, int){status(200), status(401), status(200)}}
	server := httptest.NewServer(s)
	defer server.Close()
	cfg := config(server.URL, nil)
	cfg.MaxBatch = 1
	c := client(t, cfg)
	first, _, _ := turn(1)
	second, llm, _ := turn(2)
	rest, err := c.Export(t.Context(), []runtypes.Op{patch(ended(first)), patch(ended(second)), post(llm)})
	if !errors.Is(err, exporter.ErrUnauthorized) || len(rest) != 2 || c.Stats().Bare != 1 {
		t.Fatalf("%d left: %v, %+v", len(rest), err, c.Stats())
	}
	export(t, c, rest...)
	if stats := c.Stats(); stats.Bare != 2 || stats.Delivered != 3 {
		t.Errorf("%+v", stats)
	}
}

func TestARunWithoutItsInputsThatIsRefusedIsNotShortened(t *testing.T) {
	server := httptest.NewServer(&scripted{answers: []func(http.ResponseWriter, int){status(400), status(400), status(200)}})
	defer server.Close()
	first, _, _ := turn(1)
	second, _, _ := turn(2)
	got, err := client(t, config(server.URL, nil)).Deliver(t.Context(), []runtypes.Op{patch(ended(first)), patch(ended(second))})
	if err != nil || len(got.Dropped) != 1 || got.Shortened != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSpansThatAreNotTakenAreCounted(t *testing.T) {
	for _, test := range []struct {
		refused      byte
		ops, unnamed int
	}{{1, 0, 1}, {2, 2, 0}, {0, 0, 0}} {
		s := &scripted{answers: []func(http.ResponseWriter, int){refusing(test.refused)}}
		server := httptest.NewServer(s)
		_, llm, tool := turn(1)
		var lost drops
		c := client(t, config(server.URL, &lost))
		export(t, c, post(llm), post(tool))
		server.Close()
		if len(lost.ops) != test.ops || lost.unnamed != test.unnamed || len(s.spans) != 1 {
			t.Errorf("%d refused: %d ops, %d unnamed, %d requests", test.refused, len(lost.ops), lost.unnamed, len(s.spans))
		}
		stats := c.Stats()
		if stats.Dropped[exporter.ReasonRejected] != int64(test.refused) || stats.Delivered != int64(2-test.refused) {
			t.Errorf("%d refused: %+v", test.refused, stats)
		}
	}
}

// A refused connection and the statuses that mean "later" are tried again with the same bytes;
// a refusal of the whole is told and drops nothing; one of a single span drops that one.
func TestRefusalsAreToldApart(t *testing.T) {
	_, llm, tool := turn(1)
	for _, test := range []struct {
		name     string
		answers  []func(http.ResponseWriter, int)
		requests []int // spans of each
		lost     int
		err      error
	}{
		{"later", []func(http.ResponseWriter, int){status(503), status(200)}, []int{2, 2}, 0, nil},
		{"unauthorized", []func(http.ResponseWriter, int){status(401)}, []int{2}, 0, exporter.ErrUnauthorized},
		{"malformed", []func(http.ResponseWriter, int){status(400), status(400), status(200)}, []int{2, 1, 1}, 1, nil},
		{"gzip", []func(http.ResponseWriter, int){status(415), status(200)}, []int{2, 2}, 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &scripted{answers: test.answers}
			server := httptest.NewServer(s)
			defer server.Close()
			var lost drops
			c := client(t, config(server.URL, &lost))
			rest, err := c.Export(t.Context(), []runtypes.Op{post(llm), post(tool)})
			if !errors.Is(err, test.err) || (err != nil) != (len(rest) == 2) {
				t.Errorf("%v, %d left", err, len(rest))
			}
			if diff := cmp.Diff(test.requests, s.spans); diff != "" {
				t.Error(diff)
			}
			if len(lost.ops) != test.lost {
				t.Errorf("%d lost", len(lost.ops))
			}
		})
	}
}

func TestAPageOfAProxyIsNoSuccess(t *testing.T) {
	s := &scripted{answers: []func(http.ResponseWriter, int){
		func(w http.ResponseWriter, _ int) { _, _ = w.Write([]byte("<html>Sign in")) },
	}}
	server := httptest.NewServer(s)
	defer server.Close()
	_, llm, _ := turn(1)
	cfg := config(server.URL, nil)
	cfg.MaxElapsed = time.Millisecond
	var later *exporter.TemporaryError
	if rest, err := client(t, cfg).Export(t.Context(), []runtypes.Op{post(llm)}); !errors.As(err, &later) || len(rest) != 1 {
		t.Errorf("%d left, %v", len(rest), err)
	}
}

func TestASpanThatIsTooLargeIsCutDown(t *testing.T) {
	server := serve(t, ingest.Config{Limits: ingest.Limits{Decoded: 64 << 10}})
	_, llm, tool := turn(1)
	tool.Outputs = []byte(`{"output":"` + strings.Repeat("x", 1<<20) + `"}`)
	llm.Attachments = []runtypes.Attachment{{Name: "shot", MIMEType: "image/png", Data: bytes.Repeat([]byte{1}, 1<<20)}}
	var lost drops
	c := client(t, config(server.URL()+"/otel", &lost))
	export(t, c, post(llm), post(tool))
	if runs := server.Memory().Runs(); len(runs) != 2 || len(lost.ops) > 0 {
		t.Fatalf("%d arrived, %d lost", len(runs), len(lost.ops))
	}
	if stats := c.Stats(); stats.Shortened != 2 || stats.Detached != 1 {
		t.Errorf("%+v", stats)
	}
	if got, _ := server.Memory().Run(tool.ID.String()); !strings.Contains(string(got.Outputs), "bytes left out") {
		t.Error("nothing says that the output was cut")
	}
}

func TestSecretsDoNotLeave(t *testing.T) {
	server := serve(t, ingest.Config{})
	_, _, tool := turn(1)
	tool.Outputs = []byte(`{"output":"ghp_0123456789abcdefghijABCDEFGHIJ0123456789"}`)
	cfg := config(server.URL()+"/otel", nil)
	cfg.Redact = nil
	export(t, client(t, cfg), post(tool))
	if got, ok := server.Memory().Run(tool.ID.String()); !ok || strings.Contains(string(got.Outputs), "ghp_") {
		t.Errorf("%v %s", ok, got.Outputs)
	}
}

func TestHeadersAuthenticate(t *testing.T) {
	s := &scripted{answers: []func(http.ResponseWriter, int){status(200)}}
	server := httptest.NewServer(s)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=theirs,x-other=theirs")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	cfg := config(server.URL+"/v1/traces/", nil) // the signal's address, as it is often pasted
	cfg.Credentials = http.Header{"Authorization": {"Bearer ours"}}
	_, llm, _ := turn(1)
	export(t, client(t, cfg), post(llm))
	if got := s.header[0]; got.Get("Authorization") != "Bearer ours" || got.Get("X-Other") != "" || got.Get("Content-Encoding") != "gzip" {
		t.Errorf("%v", got)
	}
}

func TestWhatHasNoMeaningIsRefused(t *testing.T) {
	for _, cfg := range []exporter.Config{
		{Address: "lrn:agents/a/environments/local"},
		{Replicas: []exporter.Replica{{Project: "p"}}},
		{Endpoint: "http://collector.example:4318"}, // unencrypted to another machine
		{Endpoint: "collector:4318"},
	} {
		if _, err := NewClient(cfg); err == nil {
			t.Errorf("%+v was taken", cfg)
		}
		if _, err := New(cfg); err == nil {
			t.Errorf("%+v was taken", cfg)
		}
	}
}
