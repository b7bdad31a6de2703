package aguitrace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Through the proxy and without it, in one run: what a client waits for the first byte
// of an answer, and how fast a stream of small events comes, each flushed.

// ways are an agent's own address, and that of a proxy in front of it.
func ways(b *testing.B, agent http.Handler) map[string]string {
	b.Helper()
	upstream := httptest.NewServer(agent)
	b.Cleanup(upstream.Close)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		b.Fatal(err)
	}
	found := map[string]string{"direct": upstream.URL}
	for name, sink := range map[string]runtypes.Sink{"untraced": nil, "proxy": discarded{}} {
		tracer := New(sink, Options{})
		proxy := tracer.Proxy(target)
		s := httptest.NewServer(proxy)
		b.Cleanup(func() {
			s.Close()
			proxy.CloseIdleConnections()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := tracer.Wait(ctx); err != nil {
				b.Error(err)
			}
			if total := tracer.Totals(); total.Lost > 0 {
				b.Errorf("%d streams of %d were not recorded", total.Lost, total.Streams)
			}
		})
		found[name] = s.URL
	}
	return found
}

// discarded takes runs for nothing.
type discarded struct{}

func (discarded) Submit(runtypes.Op) error { return nil }

func BenchmarkFirstByte(b *testing.B) {
	stream := sse(events...)
	at := ways(b, agent(agui.MediaTypeSSE, stream))
	for _, way := range []string{"direct", "untraced", "proxy"} {
		b.Run(way, func(b *testing.B) {
			base := &http.Transport{}
			defer base.CloseIdleConnections()
			c := &http.Client{Transport: base}
			var waits []time.Duration
			for b.Loop() {
				began := time.Now()
				resp, err := c.Post(at[way], "application/json", strings.NewReader(request))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(resp.Body, make([]byte, 1)); err != nil {
					b.Fatal(err)
				}
				waits = append(waits, time.Since(began))
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			slices.Sort(waits)
			b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "p99-µs")
		})
	}
}

func BenchmarkThroughput(b *testing.B) {
	const deltas = 5000
	pieces := [][]byte{sse(events[0])}
	for i := range deltas {
		pieces = append(pieces, sse(fmt.Sprintf(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"token %d of a long answer ","metadata":{"n":%d}}`, i, i)))
	}
	pieces = append(pieces, sse(events[len(events)-1]))
	size := int64(len(bytes.Join(pieces, nil)))
	at := ways(b, agent(agui.MediaTypeSSE, pieces...))
	for _, way := range []string{"direct", "untraced", "proxy"} {
		b.Run(way, func(b *testing.B) {
			base := &http.Transport{}
			defer base.CloseIdleConnections()
			c := &http.Client{Transport: base}
			b.SetBytes(size)
			for b.Loop() {
				resp, err := c.Post(at[way], "application/json", strings.NewReader(request))
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != size {
					b.Fatalf("%d bytes of %d: %v", n, size, err)
				}
				resp.Body.Close()
			}
			b.ReportMetric(float64(b.N)*(deltas+2)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
