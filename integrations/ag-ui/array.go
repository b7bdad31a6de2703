package agui

import (
	"bufio"
	"errors"
	"io"
)

// elements takes every element of one JSON array for a frame, as they come. What
// follows the array is a frame too, a bad one.
type elements struct {
	in    *bufio.Reader
	limit int

	inside bool // past the opening bracket
	closed bool // past the closing one
	frame  []byte
}

func (a *elements) next() ([]byte, string, error) {
	if !a.inside {
		if err := a.open(); err != nil {
			return nil, "", err
		}
		a.inside = true
	}
	a.frame = a.frame[:0]
	depth, quoted, escaped, long := 0, false, false, false
	for {
		c, err := a.in.ReadByte()
		if err != nil {
			return a.end(err, long)
		}
		if !quoted && depth == 0 && !a.closed {
			if c == ',' || c == ']' {
				a.closed = c == ']'
				if frame, code, some := a.done(long); some {
					return frame, code, nil
				}
				continue
			}
		}
		if len(a.frame) == 0 && !long && isSpace(c) {
			continue
		}
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth = max(depth-1, 0)
		}
		if long || len(a.frame) >= a.limit {
			long, a.frame = true, a.frame[:0]
			continue
		}
		a.frame = append(a.frame, c)
	}
}

// done returns the element just read; between two brackets or commas there may be none.
func (a *elements) done(long bool) ([]byte, string, bool) {
	switch {
	case long:
		return nil, FrameTooLarge, true
	case len(a.frame) == 0:
		return nil, "", false
	}
	return a.frame, "", true
}

// end returns what stands before the end of the stream: half an element, or what
// follows the array.
func (a *elements) end(err error, long bool) ([]byte, string, error) {
	frame, code, some := a.done(long)
	if !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	if a.closed {
		if some {
			return frame, code, nil
		}
		return nil, "", io.EOF
	}
	a.closed, a.frame = true, a.frame[:0]
	return nil, "", io.ErrUnexpectedEOF
}

// open skips what stands before the array's first element.
func (a *elements) open() error {
	for {
		c, err := a.in.ReadByte()
		if err != nil {
			return err
		}
		if c == '[' {
			return nil
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
