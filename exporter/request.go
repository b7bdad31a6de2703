package exporter

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/tracesmith/tracesmith/runtypes"
)

// The two ingest paths, below the endpoint.
const (
	pathMultipart = "/runs/multipart"
	pathBatch     = "/runs/batch"
)

// compressFrom is the size below which compression is not worth a header.
const compressFrom = 1 << 10

// request is a body with what has to be said about it. It is built once and sent
// as often as it takes, byte for byte the same.
type request struct {
	path   string
	header http.Header
	body   []byte
	coding string // Content-Encoding, empty for none
	plain  int    // bytes before compression
}

// newRequest encodes records for the endpoint and the coding that the server is
// known to take.
func (c *Client) newRequest(items []*item) *request {
	records := make([]*record, len(items))
	size := 0
	for i, it := range items {
		records[i] = &it.wire
		size += it.wire.size()
	}
	if !c.server.multipart() {
		body := appendBatch(make([]byte, 0, size), records)
		return &request{
			path: pathBatch, body: body, plain: len(body),
			header: http.Header{"Content-Type": {"application/json"}},
		}
	}
	boundary := newBoundary()
	req := &request{
		path:   pathMultipart,
		header: http.Header{"Content-Type": {"multipart/form-data; boundary=" + boundary}},
	}
	scratch := c.scratch.get(size + partOverhead)
	body := appendMultipart(scratch, boundary, records)
	req.plain = len(body)
	if len(body) < compressFrom || !req.compress(c, body) {
		req.body = body // which the scratch is part of: it is not used again
		return req
	}
	c.scratch.put(body)
	return req
}

// compress sets the body to a compressed one, if the server takes any.
func (r *request) compress(c *Client, plain []byte) bool {
	if !c.server.zstd() {
		return false
	}
	enc := c.zstd()
	if enc == nil {
		return false
	}
	r.body = enc.EncodeAll(plain, make([]byte, 0, len(plain)/4))
	r.coding = "zstd"
	r.header.Set("Content-Encoding", r.coding)
	r.header.Set("X-Pre-Compressed-Size", strconv.Itoa(r.plain))
	r.header.Set("X-Post-Compressed-Size", strconv.Itoa(len(r.body)))
	return true
}

// newEncoder makes the one encoder that a client reuses. The window spans many
// runs, since each model call repeats the conversation so far: 4 MiB finds nearly
// all of it, and servers keep a window of memory for every upload.
func newEncoder() *zstd.Encoder {
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(4<<20))
	if err != nil { // only options out of range can do that
		return nil
	}
	return enc
}

// scratch keeps the buffers that bodies are put together in before they are
// compressed. A body that is sent is never in one: net/http may read it for a
// while after a request has failed.
type scratch struct{ pool sync.Pool }

func (s *scratch) get(size int) []byte {
	if b, ok := s.pool.Get().(*[]byte); ok && cap(*b) >= size {
		return (*b)[:0]
	}
	return make([]byte, 0, size)
}

func (s *scratch) put(b []byte) { s.pool.Put(&b) }

// newBoundary draws a delimiter that no body can be made to hold.
func newBoundary() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// appendBatch appends the records as the body of the older endpoint.
func appendBatch(dst []byte, records []*record) []byte {
	list := func(verb runtypes.Verb) {
		dst = append(dst, '"')
		dst = append(dst, verb...)
		dst = append(dst, `":[`...)
		n := 0
		for _, r := range records {
			if r.verb != verb {
				continue
			}
			if n++; n > 1 {
				dst = append(dst, ',')
			}
			dst = r.appendJSON(dst)
		}
		dst = append(dst, ']')
	}
	dst = append(dst, '{')
	list(runtypes.Post)
	dst = append(dst, ',')
	list(runtypes.Patch)
	return append(dst, '}')
}
