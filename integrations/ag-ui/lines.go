package agui

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lines reads lines that end in LF, CRLF or CR. A line is returned as soon as its end
// is there: after a CR it does not wait to see whether an LF follows.
type lines struct {
	in    *bufio.Reader
	limit int

	begun   bool
	afterCR bool
	line    []byte
}

// next returns a line without its end, good until the next call. Of a line beyond the
// limit nothing is held and long is true. The last line needs no end.
func (l *lines) next() (line []byte, long bool, err error) {
	if !l.begun {
		l.begun = true
		if mark, err := l.in.Peek(len(byteOrderMark)); err == nil && bytes.Equal(mark, byteOrderMark) {
			l.discard(len(mark))
		}
	}
	l.line = l.line[:0]
	some := false
	for {
		if _, err := l.in.Peek(1); err != nil {
			if some && errors.Is(err, io.EOF) {
				return l.line, long, nil
			}
			return nil, false, err
		}
		chunk, err := l.in.Peek(l.in.Buffered())
		if err != nil {
			return nil, false, err
		}
		if l.afterCR {
			l.afterCR = false
			if chunk[0] == '\n' {
				l.discard(1)
				continue
			}
		}
		some = true
		end := bytes.IndexAny(chunk, "\r\n")
		part := chunk
		if end >= 0 {
			part = chunk[:end]
		}
		if long || len(l.line)+len(part) > l.limit {
			long, l.line = true, l.line[:0]
		} else {
			l.line = append(l.line, part...)
		}
		if end < 0 {
			l.discard(len(chunk))
			continue
		}
		l.afterCR = chunk[end] == '\r'
		l.discard(end + 1)
		return l.line, long, nil
	}
}

// discard drops bytes that Peek has shown, which cannot fail.
func (l *lines) discard(n int) { _, _ = l.in.Discard(n) }

// jsonLines takes every line that is not blank for a frame.
type jsonLines struct{ lines lines }

func (j *jsonLines) next() ([]byte, string, error) {
	for {
		line, long, err := j.lines.next()
		switch {
		case err != nil:
			return nil, "", err
		case long:
			return nil, FrameTooLarge, nil
		case len(bytes.TrimSpace(line)) > 0:
			return line, "", nil
		}
	}
}
