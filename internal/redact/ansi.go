package redact

import "bytes"

// colour steps over the sequences by which terminals show colours, as they are or as
// JSON spells them: a listing shows names and values in different ones.
func colour(b []byte, at int) int {
	for {
		next := at
		for _, escape := range [...]string{"\x1b[", `\u001b[`, `\u001B[`, `\x1b[`, `\033[`} {
			if bytes.HasPrefix(b[at:], []byte(escape)) {
				next = at + len(escape)
			}
		}
		if next == at {
			return at
		}
		end := skip(b, next, 16, func(c byte) bool { return isDigit(c) || c == ';' })
		if end == len(b) || b[end] != 'm' && b[end] != 'K' {
			return at
		}
		at = end + 1
	}
}

// afterColour reports whether such a sequence ends right before b[at].
func afterColour(b []byte, at int) bool {
	if b[at-1] != 'm' && b[at-1] != 'K' {
		return false
	}
	for from := at - 2; from > 0 && at-from < 16; from-- {
		if c := b[from]; c == '[' {
			return b[from-1] == '\x1b' || bytes.HasSuffix(b[:from], []byte("1b")) || bytes.HasSuffix(b[:from], []byte("1B")) || bytes.HasSuffix(b[:from], []byte("033"))
		} else if !isDigit(c) && c != ';' {
			return false
		}
	}
	return false
}
