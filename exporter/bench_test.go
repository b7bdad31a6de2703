package exporter

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

// payload is a run with about 4 KB of JSON.
func payload(n int) *runtypes.Run {
	r := ended(n)
	r.Inputs = json.RawMessage(`{"messages":[{"role":"user","content":"` + strings.Repeat("what does this do? ", 110) + `"}]}`)
	r.Outputs = json.RawMessage(`{"messages":[{"role":"assistant","content":"` + strings.Repeat("it runs the tests. ", 110) + `"}]}`)
	return r
}

// nowhere takes everything.
var nowhere = roundTrip(func(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		io.Copy(io.Discard, r.Body)
	}
	return &http.Response{StatusCode: 202, Body: io.NopCloser(strings.NewReader(infoAll)), Header: http.Header{}, Request: r}, nil
})

// BenchmarkSubmit measures the caller's side alone: the server never answers.
func BenchmarkSubmit(b *testing.B) {
	hung := roundTrip(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	cfg := config(hung, nil)
	cfg.QueueBytes = 1 << 40
	batcher, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	ops := make([]runtypes.Op, 4096)
	for i := range ops {
		ops[i] = post(payload(i))
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if err := batcher.Submit(ops[n%len(ops)]); err != nil {
			b.Fatal(err)
		}
		n++
	}
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	batcher.Shutdown(ctx)
}

func BenchmarkExport(b *testing.B) {
	for name, redact := range map[string]func(*runtypes.Run) error{"redacted": nil, "plain": NoRedaction} {
		b.Run(name, func(b *testing.B) {
			cfg := config(nowhere, nil)
			cfg.Redact = redact
			c, err := NewClient(cfg)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			ops := make([]runtypes.Op, 100)
			for i := range ops {
				ops[i] = post(payload(i))
			}
			c.server.info = new(info)
			c.server.info.InstanceFlags.ZstdCompressionEnabled = true
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Export(b.Context(), ops); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/100, "µs/run")
			s := c.Stats()
			b.ReportMetric(float64(s.Bytes)/float64(s.WireBytes), "ratio")
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	wire, err := runtypes.Encode(post(payload(1)))
	if err != nil {
		b.Fatal(err)
	}
	r := newRecord(runtypes.Post, &wire)
	records, boundary, buf := []*record{&r}, newBoundary(), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		buf = appendMultipart(buf[:0], boundary, records)
	}
	b.SetBytes(int64(len(buf)))
}
