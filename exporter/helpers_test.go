package exporter

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

var (
	someTime = time.Date(2026, 11, 30, 4, 5, 6, 7000, time.UTC)
	someone  = runtypes.Identity{Integration: "test", Runtime: "Test", ThreadID: "thread"}
)

// pending is a root run that has begun, n telling it from others.
func pending(n int) *runtypes.Run {
	r := runtypes.Root(idgen.Run(someTime, "test", fmt.Sprint(n)), someTime, someone)
	r.Inputs = json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))
	return r
}

// ended is the same run with its end.
func ended(n int) *runtypes.Run {
	r := runtypes.Finish(pending(n), someTime.Add(time.Second))
	r.Inputs = nil
	r.Outputs = json.RawMessage(fmt.Sprintf(`{"done":%d}`, n))
	return r
}

func post(r *runtypes.Run) runtypes.Op  { return runtypes.Op{Verb: runtypes.Post, Run: r} }
func patch(r *runtypes.Run) runtypes.Op { return runtypes.Op{Verb: runtypes.Patch, Run: r} }

func posts(from, to int) (ops []runtypes.Op) {
	for n := from; n < to; n++ {
		ops = append(ops, post(pending(n)))
	}
	return ops
}

// names lists ops as the server sees them.
func names(ops []runtypes.Op) (out []string) {
	for _, op := range ops {
		out = append(out, string(op.Verb)+" "+op.Run.ID.String())
	}
	return out
}

// drops records what OnDrop is told.
type drops struct {
	mu  sync.Mutex
	ops []runtypes.Op
	why []*DropError
}

func (d *drops) add(ops []runtypes.Op, why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, op := range ops {
		d.ops = append(d.ops, op)
		d.why = append(d.why, why.(*DropError))
	}
}

// config is one that talks to s without a network and does not redact.
func config(s http.RoundTripper, d *drops) Config {
	cfg := Config{
		Endpoint: "http://langsmith.localhost", APIKey: "lsv2_pt_test",
		InFlight:   1, // so that the order of requests is known
		HTTPClient: &http.Client{Transport: s}, Redact: NoRedaction,
	}
	if d != nil {
		cfg.OnDrop = d.add
	}
	return cfg
}

func newTestClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// export expects that nothing is left over.
func export(t *testing.T, c *Client, ops ...runtypes.Op) {
	t.Helper()
	rest, err := c.Export(t.Context(), ops)
	if err != nil || len(rest) > 0 {
		t.Fatalf("Export left %v: %v", names(rest), err)
	}
}

// status answers every call with a status.
func status(code int) *reply { return &reply{status: code, body: `{"error":"scripted"}`} }
