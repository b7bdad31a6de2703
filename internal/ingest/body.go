package ingest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is the largest zstd window accepted, 2^27: what LangSmith's own
// clients can be set to.
const maxWindow = 1 << 27

// minDrain is how many bytes past a small limit are still read: below it no
// client loses its 413 to a connection that is reset on its write.
const minDrain = 16 << 20

// readBody takes in a request's body and undoes its compression, within limits.
// wire is the number of bytes as sent.
func readBody(r *http.Request, limits Limits, without Without) (body []byte, wire int64, err error) {
	raw, err := readUpTo(r.Body, limits.Wire)
	if err != nil {
		var refused *refusal
		if errors.As(err, &refused) {
			drain(r.Body, max(4*limits.Wire, minDrain))
			return nil, limits.Wire, err
		}
		return nil, int64(len(raw)), refuse(http.StatusBadRequest, "error reading body: %v", err)
	}
	wire = int64(len(raw))
	encoding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding")))
	switch {
	case encoding == "" || encoding == "identity":
		body, err = raw, nil
		if wire > limits.Decoded {
			err = tooLarge()
		}
	case encoding == "zstd" && !without.Zstd:
		body, err = unzstd(raw, limits.Decoded)
	case encoding == "gzip" && !without.Gzip:
		body, err = gunzip(raw, limits.Decoded)
	default:
		err = refuse(http.StatusUnsupportedMediaType, "unsupported Content-Encoding %.40q", encoding)
	}
	return body, wire, err
}

func unzstd(raw []byte, limit int64) ([]byte, error) {
	dec, err := zstd.NewReader(bytes.NewReader(raw),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, invalid("error reading zstd: %v", err)
	}
	defer dec.Close()
	return decoded("zstd", dec, limit)
}

func gunzip(raw []byte, limit int64) ([]byte, error) {
	dec, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, invalid("error reading gzip: %v", err)
	}
	return decoded("gzip", dec, limit)
}

func decoded(encoding string, dec io.Reader, limit int64) ([]byte, error) {
	body, err := readUpTo(dec, limit)
	var refused *refusal
	if err != nil && !errors.As(err, &refused) {
		err = invalid("error reading %s: %v", encoding, err)
	}
	return body, err
}

// readUpTo reads src to its end, or refuses with 413 past limit bytes.
func readUpTo(src io.Reader, limit int64) ([]byte, error) {
	var buf bytes.Buffer
	n, err := buf.ReadFrom(io.LimitReader(src, limit+1))
	if err == nil && n > limit {
		err = tooLarge()
	}
	return buf.Bytes(), err
}

// drain reads on past a refused body, so that the client gets to see the answer
// rather than a connection that closed on its write.
func drain(src io.Reader, limit int64) {
	// An error here changes nothing: the request is refused already.
	_, _ = io.CopyN(io.Discard, src, limit)
}

func tooLarge() *refusal {
	return refuse(http.StatusRequestEntityTooLarge, "payload too large")
}
