package modelcall

import (
	"bytes"
	"iter"
)

// decoder takes a stream of server-sent events apart, in whatever pieces it comes.
// Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
type decoder struct {
	limit int    // bytes of an event
	line  []byte // what has come of a line
	data  []byte // of the event so far
	some  bool   // the event has a data line
	skip  bool   // the event is too large and is let go
	cr    bool   // the last byte was a carriage return
}

// feed takes the next bytes and yields the data of each event they complete.
func (d *decoder) feed(p []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(p) > 0 {
			if d.cr && p[0] == '\n' {
				p = p[1:]
				d.cr = false
				continue
			}
			d.cr = false
			end := bytes.IndexAny(p, "\r\n")
			if end < 0 {
				d.keep(p)
				return
			}
			d.keep(p[:end])
			d.cr = p[end] == '\r'
			p = p[end+1:]
			if data, ok := d.endLine(); ok && !yield(data) {
				return
			}
		}
	}
}

func (d *decoder) keep(p []byte) {
	if d.skip || len(d.line)+len(d.data)+len(p) > d.limit {
		d.skip, d.line, d.data = true, nil, nil
		if len(p) > 0 {
			d.line = append(d.line, p[0]) // the line is not empty
		}
		return
	}
	d.line = append(d.line, p...)
}

// endLine takes in a whole line. An empty one ends the event.
func (d *decoder) endLine() ([]byte, bool) {
	line := d.line
	d.line = d.line[:0]
	if len(line) == 0 {
		data, ok := d.data, d.some && !d.skip
		d.data, d.some, d.skip = nil, false, false
		return data, ok
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	if d.skip || string(name) != "data" {
		return nil, false
	}
	value = bytes.TrimPrefix(value, []byte(" "))
	if d.some {
		d.data = append(d.data, '\n')
	}
	d.data = append(d.data, value...)
	d.some = true
	return nil, false
}
