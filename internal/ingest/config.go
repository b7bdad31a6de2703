package ingest

import (
	"context"
	"net/http"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Sink keeps what the server accepts. The server calls it for one request at a
// time.
type Sink interface {
	// Fresh returns those writes that the sink has not received yet. A run is
	// posted once and patched once; the two do not depend on each other.
	Fresh(ctx context.Context, posts, patches []runtypes.Wire) (newPosts, newPatches []runtypes.Wire, err error)
	// Apply stores posts, then patches, all of them or none.
	Apply(ctx context.Context, posts, patches []runtypes.Wire) error
}

// Config says how a Handler behaves. The zero value is a strict LangSmith with
// every feature on, no key, and an empty Memory behind it.
type Config struct {
	Sink     Sink     // nil: a new Memory, see Handler.Memory
	Key      string   // x-api-key or bearer token demanded of every ingest request; empty: none
	Keys     []string // as good as Key; empty ones do not count
	Conflict Conflict // what to do with a request that holds something already received
	Limits   Limits
	Without  Without
	Faults   []Fault // the script to start with, see Handler.Script

	Page http.Handler // serves what the protocol has no route for; nil: nothing does

	// Observe, if set, sees every ingest request with its decoded body before
	// it is judged; faults that do not read the body are not seen. It must not
	// keep the request.
	Observe func(r *http.Request, body []byte)

	Refusal string // what a client without the key is told; empty: LangSmith's words
}

// Conflict is the reading of LangSmith's undocumented 409 for a request that
// mixes new and known operations. Both answer 409.
type Conflict int

// The two readings.
const (
	RefuseAll Conflict = iota // nothing of the request is stored
	KeepNew                   // what is new is stored
)

// Limits bounds a request. Zero means the default.
type Limits struct {
	Wire    int64 // bytes as sent; above: 413. 25 MB, what LangSmith's edge takes
	Decoded int64 // bytes after decompression; above: 413. 64 MiB
	Ops     int   // advertised operations per request; not enforced. 100
	Bytes   int64 // advertised uncompressed bytes per request; not enforced. 20 MiB
}

// Without switches features off, as an older or a proxied deployment would.
type Without struct {
	Info      bool // GET /info answers 404
	Multipart bool // POST /runs/multipart answers 404 and /info says so
	Zstd      bool // zstd bodies answer 415 and /info says so
	Gzip      bool // gzip bodies answer 415 and /info says so
}

const (
	defaultWire    = 25_000_000
	defaultDecoded = 64 << 20
	defaultOps     = 100
	defaultBytes   = 20 << 20
)

func (l Limits) withDefaults() Limits {
	if l.Wire <= 0 {
		l.Wire = defaultWire
	}
	if l.Decoded <= 0 {
		l.Decoded = defaultDecoded
	}
	if l.Ops <= 0 {
		l.Ops = defaultOps
	}
	if l.Bytes <= 0 {
		l.Bytes = defaultBytes
	}
	return l
}
