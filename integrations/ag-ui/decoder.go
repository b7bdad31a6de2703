package agui

import (
	"bufio"
	"errors"
	"io"
)

// MaxFrame is the default limit of one event, in bytes: what the protocol's own client
// accepts.
const MaxFrame = 10 << 20

// Options say how a stream is read. The zero value finds everything out.
type Options struct {
	Format   Format // empty: told by what the stream begins with
	MaxFrame int    // limit of one event in bytes; 0: MaxFrame
}

// Frame is one piece of a stream: an event, or what was in the place of one.
type Frame struct {
	Number   int    // place in the stream, from 1
	Event    *Event // nil: nothing that can be used
	Problems []Problem
}

// Decoder reads the events of a stream. It holds one event at a time, reads no further
// than it must, and never fails on what it reads. It is not for concurrent use.
type Decoder struct {
	in     *bufio.Reader
	opts   Options
	split  splitter
	number int
	cut    bool // the stream ended inside a frame, which was told
}

// splitter cuts a stream into frames. What it returns is good until the next call. A
// code says what is wrong with the frame, which is then not to be decoded.
type splitter interface {
	next() (frame []byte, code string, err error)
}

// NewDecoder returns a decoder of a stream.
func NewDecoder(r io.Reader, opts Options) *Decoder {
	if opts.MaxFrame <= 0 {
		opts.MaxFrame = MaxFrame
	}
	return &Decoder{in: bufio.NewReaderSize(r, 32<<10), opts: opts}
}

// Format is how the stream is written. Before the first frame was read it may not be
// known and is empty.
func (d *Decoder) Format() Format { return d.opts.Format }

// Next returns the next frame. The error is io.EOF at the stream's end, or what the
// reader said; a stream that ended inside a frame has a frame with Truncated before.
func (d *Decoder) Next() (Frame, error) {
	if d.split == nil {
		d.begin()
	}
	if d.cut {
		return Frame{}, io.EOF
	}
	raw, code, err := d.split.next()
	if err != nil {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			return Frame{}, err
		}
		d.cut, code = true, Truncated
	}
	d.number++
	frame := Frame{Number: d.number}
	switch {
	case code != "":
		frame.Problems = []Problem{{Code: code}}
	case d.opts.Format == Protobuf:
		frame.Event, frame.Problems = DecodeProtobuf(raw)
	default:
		frame.Event, frame.Problems = DecodeJSON(raw)
	}
	for i := range frame.Problems {
		frame.Problems[i].Event = d.number
	}
	return frame, nil
}

func (d *Decoder) begin() {
	if d.opts.Format == "" {
		d.opts.Format = sniff(d.in)
	}
	switch d.opts.Format {
	case Protobuf:
		d.split = &frames{in: d.in, limit: d.opts.MaxFrame}
	case Array:
		d.split = &elements{in: d.in, limit: d.opts.MaxFrame}
	case Lines:
		d.split = &jsonLines{lines: lines{in: d.in, limit: d.opts.MaxFrame}}
	default:
		d.split = &serverSent{lines: lines{in: d.in, limit: d.opts.MaxFrame}}
	}
}
