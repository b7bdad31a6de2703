package lines

import (
	"bufio"
	"errors"
	"io"
	"iter"
)

// Line is one complete line.
type Line struct {
	Offset int64  // of its first byte
	Next   int64  // of the byte after its newline
	Data   []byte // without the newline; valid until the next line
	Long   bool   // it was longer than the limit: Data is nil
}

// Read yields the complete lines of r that lie wholly between the offsets from
// and to. A last line without its newline is left for later. A line longer than
// limit bytes is yielded without its data.
func Read(r io.ReaderAt, from, to int64, limit int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		if from < 0 || from >= to {
			return
		}
		in := bufio.NewReaderSize(io.NewSectionReader(r, from, to-from), int(min(to-from, 64<<10)))
		var long []byte // a line that does not fit the reader's buffer
		for offset := from; ; {
			short, size, err := next(in)
			line := Line{Offset: offset, Next: offset + size, Data: short}
			switch {
			case err != nil:
			case size-1 > int64(limit):
				line.Data, line.Long = nil, true
			case short == nil:
				long, err = again(r, offset, size-1, long)
				line.Data = long
			}
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // or the file was cut meanwhile
				return
			case err != nil:
				yield(Line{Offset: offset}, err)
				return
			}
			offset = line.Next
			if !yield(line, nil) {
				return
			}
		}
	}
}

// again reads a line whose size is known now, into buf if it fits: it may be so large
// that a buffer which grows with it would be several times too much.
func again(r io.ReaderAt, offset, size int64, buf []byte) ([]byte, error) {
	if int64(cap(buf)) < size {
		buf = make([]byte, size)
	}
	_, err := io.ReadFull(io.NewSectionReader(r, offset, size), buf[:size])
	return buf[:size], err
}

// next passes over one line and returns its size, newline included, and what is in it,
// nil if that does not fit the reader's buffer.
func next(in *bufio.Reader) (short []byte, size int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		size += int64(len(part))
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, 0, err
		case size == int64(len(part)):
			return part[:size-1], size, nil
		default:
			return nil, size, nil
		}
	}
}
