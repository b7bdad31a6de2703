package redact

import "bytes"

// maxTail bounds the lines of a key before its end.
const maxTail = 16 << 10

// pemTail returns where the lines begin that a private key's END line, at from, closes,
// and where that ends: what is left of a key when only the end of its file is shown.
func pemTail(b []byte, from int) (int, int) {
	to, ok := pemFooter(b, from)
	if !ok {
		return 0, 0
	}
	start, long := from, false
	for line := lineStart(b, from); line > 0 && from-line < maxTail; {
		before := max(0, line-1-2*maxName)
		if cut := bytes.LastIndexByte(b[before:line-1], '\n'); cut >= 0 {
			before += cut + 1
		}
		_, text := indentation(b, before)
		body := bytes.TrimRight(b[min(text, line-1):line-1], " \t\r=")
		if len(body) == 0 || skip(body, 0, len(body), isBase64) < len(body) {
			break
		}
		long = long || len(body) >= minBody
		start, line = text, before
	}
	if !long {
		return 0, 0
	}
	return start, to
}
