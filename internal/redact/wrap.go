package redact

import "bytes"

const (
	// minWrapped is how much of a token stands before the line break that cuts it in two.
	minWrapped = 12
	// maxWrapped bounds the lines that it goes over.
	maxWrapped = 1 << 10
)

// wrapped returns where the token ends that begins at from and is broken into lines, as
// terminals and mails do; from if there is none. What is before a break must look drawn:
// words follow each other across lines all the time.
func (r *rule) wrapped(b []byte, from int) int {
	if r.strict || r.back > 0 || len(b)-from < minWrapped {
		return from
	}
	for i := range min(minWrapped, len(r.head)) {
		if !r.head[i][b[from+i]] {
			return from
		}
	}
	end := skip(b, from, maxWrapped, inToken)
	if end-from < minWrapped || !isBreak(b, end) || !drawn(b[from:end]) || r.word && !startsWord(b, from) {
		return from
	}
	joined, found := bytes.Clone(b[from:end]), from
	width := end - lineStart(b, from) // of a full line
	for len(joined) < maxWrapped && isBreak(b, end) {
		next := skip(b, end, 2, func(c byte) bool { return c == '\r' || c == '\n' })
		to := skip(b, next, maxWrapped, inToken)
		if to == next {
			break
		}
		had := len(joined)
		joined = append(joined, b[next:to]...)
		length, _ := r.match(joined, 0, 0)
		if length > had {
			found = next + length - had
		}
		if to-next < minWrapped || found > from && to-next != width || length > 0 && length < len(joined) {
			break // the last line
		}
		end = to
	}
	return found
}

func isBreak(b []byte, at int) bool { return at < len(b) && (b[at] == '\n' || b[at] == '\r') }
