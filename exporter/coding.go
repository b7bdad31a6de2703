package exporter

import (
	"bytes"
	"compress/gzip"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// coding is a Content-Encoding. The empty one sends bodies as they are.
type coding string

const (
	codingNone coding = ""
	codingGzip coding = "gzip"
	codingZstd coding = "zstd"
)

// coder compresses bodies. It is safe for concurrent use.
type coder struct {
	zstd    func() *zstd.Encoder
	gzips   sync.Pool // of *gzip.Writer
	scratch sync.Pool // of *[]byte
}

// newCoder makes a coder for so many bodies at once, level being zstd's.
func newCoder(senders, level int) *coder {
	return &coder{zstd: sync.OnceValue(func() *zstd.Encoder { return newZstd(senders, max(level, 1)) })}
}

// newZstd makes the one encoder that a client reuses. The window spans many runs,
// since each model call repeats the conversation so far: 4 MiB finds nearly all of
// it, and servers keep a window of memory for every upload. A higher level than the
// lowest makes ordinary text a tenth smaller for a quarter more of the work.
func newZstd(senders, level int) *zstd.Encoder {
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
		zstd.WithEncoderConcurrency(senders),
		zstd.WithWindowSize(4<<20))
	if err != nil { // only options out of range can do that
		return nil
	}
	return enc
}

// encode returns a compressed copy, or false where it cannot make one.
func (c *coder) encode(as coding, plain []byte) ([]byte, bool) {
	switch as {
	case codingZstd:
		if enc := c.zstd(); enc != nil {
			return enc.EncodeAll(plain, make([]byte, 0, len(plain)/4)), true
		}
	case codingGzip:
		return c.gzip(plain)
	}
	return nil, false
}

func (c *coder) gzip(plain []byte) ([]byte, bool) {
	out := bytes.NewBuffer(make([]byte, 0, len(plain)/2))
	w, ok := c.gzips.Get().(*gzip.Writer)
	if !ok {
		var err error
		if w, err = gzip.NewWriterLevel(nil, gzip.BestSpeed); err != nil { // only a level out of range can do that
			return nil, false
		}
	}
	defer c.gzips.Put(w)
	w.Reset(out)
	if _, err := w.Write(plain); err != nil {
		return nil, false
	}
	if err := w.Close(); err != nil {
		return nil, false
	}
	return out.Bytes(), true
}

// buffer returns an empty buffer to put a body together in before it is
// compressed, and keep takes it back. A body that is sent is never in one: net/http
// may read it for a while after a request has failed.
func (c *coder) buffer(size int) []byte {
	if b, ok := c.scratch.Get().(*[]byte); ok && cap(*b) >= size {
		return (*b)[:0]
	}
	return make([]byte, 0, size)
}

func (c *coder) keep(b []byte) { c.scratch.Put(&b) }
