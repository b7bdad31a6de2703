package agui

import (
	"bytes"
	"errors"
	"io"
)

// serverSent takes the data of every server-sent event for a frame. Comments, other
// fields and events without data are no frames. The last event needs no blank line.
type serverSent struct {
	lines lines
	data  []byte
	some  bool // the event has data
	long  bool // more than the limit
}

func (s *serverSent) next() ([]byte, string, error) {
	s.data, s.some, s.long = s.data[:0], false, false
	for {
		line, long, err := s.lines.next()
		if err != nil {
			if errors.Is(err, io.EOF) && s.some {
				return s.frame()
			}
			return nil, "", err
		}
		if len(line) > 0 || long {
			s.add(line, long)
			continue
		}
		if s.some {
			return s.frame()
		}
	}
}

// add takes a line of an event in.
func (s *serverSent) add(line []byte, long bool) {
	if long {
		s.some, s.long, s.data = true, true, s.data[:0]
		return
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	if string(field) != "data" {
		return
	}
	value = bytes.TrimPrefix(value, []byte(" "))
	if s.some {
		value = append([]byte("\n"), value...)
	}
	if !s.some && len(value) == 0 {
		return // a beat that keeps the connection open
	}
	s.some = true
	if s.long || len(s.data)+len(value) > s.lines.limit {
		s.long, s.data = true, s.data[:0]
		return
	}
	s.data = append(s.data, value...)
}

func (s *serverSent) frame() ([]byte, string, error) {
	if s.long {
		return nil, FrameTooLarge, nil
	}
	return s.data, "", nil
}
