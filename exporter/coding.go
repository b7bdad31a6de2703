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
	level   int
	made    chan struct{}      // one for each of zstd's encoders: they are large
	idle    chan *zstd.Encoder // those that nobody uses
	gzips   sync.Pool          // of *gzip.Writer
	scratch sync.Pool          // of *[]byte
}

// newCoder makes a coder for so many bodies at once, level being zstd's.
func newCoder(senders, level int) *coder {
	return &coder{level: max(level, 1), made: make(chan struct{}, senders), idle: make(chan *zstd.Encoder, senders)}
}

// encoder returns an idle encoder, and makes one only where there is none.
func (c *coder) encoder() *zstd.Encoder {
	select {
	case enc := <-c.idle:
		return enc
	default:
	}
	select {
	case enc := <-c.idle:
		return enc
	case c.made <- struct{}{}:
		return newZstd(c.level)
	}
}

// newZstd makes an encoder for one body at a time. The window spans many runs,
// since each model call repeats the conversation so far: 4 MiB finds nearly all of
// it, and servers keep a window of memory for every upload. A higher level than the
// lowest makes ordinary text a tenth smaller for a quarter more of the work.
func newZstd(level int) *zstd.Encoder {
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
		zstd.WithEncoderConcurrency(1),
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
		enc := c.encoder()
		defer func() { c.idle <- enc }()
		if enc != nil {
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
