package agui

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// frames reads length-prefixed frames.
type frames struct {
	in    *bufio.Reader
	limit int

	skip  int64 // bytes of a frame beyond the limit that are still to come
	frame []byte
}

func (f *frames) next() ([]byte, string, error) {
	if f.skip > 0 {
		skipped, err := io.CopyN(io.Discard, f.in, f.skip)
		f.skip -= skipped
		if err != nil {
			f.skip = 0
			return nil, "", cut(err)
		}
	}
	var prefix [4]byte
	if _, err := io.ReadFull(f.in, prefix[:]); err != nil {
		return nil, "", err // io.EOF between frames, io.ErrUnexpectedEOF within the prefix
	}
	size := int64(binary.BigEndian.Uint32(prefix[:]))
	switch {
	case size == 0:
		return nil, BadFrame, nil // what older encoders write for an event they cannot
	case size > int64(f.limit):
		f.skip = size
		return nil, FrameTooLarge, nil
	}
	if int64(cap(f.frame)) < size {
		f.frame = make([]byte, size)
	}
	f.frame = f.frame[:size]
	if _, err := io.ReadFull(f.in, f.frame); err != nil {
		return nil, "", cut(err)
	}
	return f.frame, "", nil
}

// cut says that an end of the stream is not where a frame ends.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
