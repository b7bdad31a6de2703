package aguitrace

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/zstd"
)

var errPacking = errors.New("aguitrace: an encoding that cannot be unpacked")

// maxWindow bounds what a packed stream may ask to be remembered of it, in bytes.
const maxWindow = 8 << 20

// unpack returns the plain bytes of a body with that Content-Encoding.
func unpack(r io.Reader, encoding string) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return r, nil
	case "gzip", "x-gzip":
		return lazily(func() (io.Reader, error) { return gzip.NewReader(r) }), nil
	case "deflate":
		return lazily(func() (io.Reader, error) { return zlib.NewReader(r) }), nil
	case "zstd":
		// One goroutine: it gives what it has as it comes.
		return lazily(func() (io.Reader, error) {
			return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		}), nil
	}
	return nil, errPacking
}

// readable reduces an Accept-Encoding to what unpack reads, so that the copy of an answer
// can be.
func readable(header http.Header) {
	offered := header.Get("Accept-Encoding")
	var kept []string
	for _, each := range strings.Split(offered, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(each), ";")
		switch strings.ToLower(name) {
		case "gzip", "x-gzip", "deflate", "zstd", "identity":
			kept = append(kept, strings.TrimSpace(each))
		}
	}
	switch {
	case offered == "":
	case len(kept) == 0:
		header.Set("Accept-Encoding", "identity")
	default:
		header.Set("Accept-Encoding", strings.Join(kept, ", "))
	}
}

// lazy opens its reader when it is first read, since that waits for bytes.
type lazy struct {
	open func() (io.Reader, error)
	r    io.Reader
	err  error
}

func lazily(open func() (io.Reader, error)) io.Reader { return &lazy{open: open} }

func (l *lazy) Read(p []byte) (int, error) {
	if l.r == nil && l.err == nil {
		l.r, l.err = l.open()
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.r.Read(p)
}

// bounded reads up to so many bytes, and fails on more.
type bounded struct {
	r    io.Reader
	left int64
}

var errLong = errors.New("aguitrace: the stream is too long to be recorded")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	return n, err
}
