package exporter

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"

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
	coding coding
	plain  int // bytes before compression

	divisible bool // holds more than one write
	refused   int  // of its runs, by an answer that accepts the others
}

// newRequest encodes records for the endpoint and the coding that the server is
// known to take.
func (c *Client) newRequest(items []*item) (*request, error) {
	records := make([]*record, len(items))
	size := 0
	for i, it := range items {
		records[i] = &it.wire
		size += it.wire.size()
	}
	if c.cfg.Dialect != nil {
		return c.newForeign(records)
	}
	if !c.server.multipart() {
		body := appendBatch(make([]byte, 0, size), records)
		return &request{
			path: pathBatch, body: body, plain: len(body),
			header: http.Header{"Content-Type": {"application/json"}},
		}, nil
	}
	boundary := newBoundary()
	req := &request{
		path:   pathMultipart,
		header: http.Header{"Content-Type": {"multipart/form-data; boundary=" + boundary}},
	}
	body := appendMultipart(c.coder.buffer(size+partOverhead), boundary, records)
	req.plain = len(body)
	as := c.server.coding()
	packed, ok := []byte(nil), false
	if len(body) >= compressFrom {
		packed, ok = c.coder.encode(as, body)
	}
	if !ok {
		req.body = body
		return req, nil
	}
	c.coder.keep(body)
	req.body, req.coding = packed, as
	req.header.Set("Content-Encoding", string(as))
	req.header.Set("X-Pre-Compressed-Size", strconv.Itoa(req.plain))
	req.header.Set("X-Post-Compressed-Size", strconv.Itoa(len(packed)))
	return req, nil
}

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
