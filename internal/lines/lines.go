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
			line, err := next(in, &long, limit)
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(Line{Offset: offset}, err)
				return
			}
			line.Offset = offset
			line.Next = offset + line.Next
			offset = line.Next
			if !yield(line, nil) {
				return
			}
		}
	}
}

// next reads one line; its Next is the line's length, newline included.
func next(in *bufio.Reader, long *[]byte, limit int) (Line, error) {
	*long = (*long)[:0]
	var size int64
	for {
		part, err := in.ReadSlice('\n')
		size += int64(len(part))
		whole := err == nil
		switch {
		case !whole && !errors.Is(err, bufio.ErrBufferFull):
			return Line{}, err
		case size > int64(limit)+1 || !whole && size > int64(limit):
			*long = nil // it may be large: do not keep it
			if whole {
				return Line{Next: size, Long: true}, nil
			}
		case whole && int64(len(part)) == size:
			return Line{Next: size, Data: part[:len(part)-1]}, nil
		default:
			*long = append(*long, part...)
			if whole {
				return Line{Next: size, Data: (*long)[:len(*long)-1]}, nil
			}
		}
	}
}
