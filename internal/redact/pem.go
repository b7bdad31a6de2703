package redact

import "bytes"

const (
	pemBegin  = "-----BEGIN"
	pemFinish = "-----END "
	// maxPEM bounds a private key's block: an RSA key of 16384 bits takes 13 KB.
	maxPEM = 64 << 10
	// maxLabel bounds the words between BEGIN and the dashes.
	maxLabel = 64
	// minBody is what must follow BEGIN where END is missing: a mention is no key.
	minBody = 24
)

// pemEnd returns where the private key's block that starts at from ends, from if
// it is none. It takes line ends in any form, prefixes of a diff and line numbers
// in between. A block that was cut off ends with what looks like its body.
func pemEnd(b []byte, from int) int {
	start := from + len(pemBegin)
	label := b[start:min(len(b), start+maxLabel)]
	dashes := bytes.Index(label, []byte("-----"))
	if dashes < 0 || !bytes.Contains(label[:dashes], []byte("PRIVATE KEY")) {
		return from
	}
	body := start + dashes + len("-----")
	window := b[body:min(len(b), body+maxPEM)]
	end := bytes.Index(window, []byte("-----"))
	if end >= 0 {
		if to, ok := pemFooter(b, body+end); ok {
			if end == 0 {
				return from // an empty block
			}
			return to
		}
		window = window[:end]
	}
	n := 0
	for n < len(window) && isPEMBody(window[n]) {
		n++
	}
	if inEscape(window, n) {
		n-- // the backslash belongs to what follows
	}
	if n < minBody {
		return from
	}
	return body + n
}

// pemFooter returns the end of "-----END … PRIVATE KEY-----" at the given place.
func pemFooter(b []byte, at int) (to int, ok bool) {
	at = skip(b, at, maxLabel, func(c byte) bool { return c == '-' })
	label := b[at:min(len(b), at+maxLabel)]
	if !bytes.HasPrefix(label, []byte("END ")) {
		return 0, false
	}
	dashes := bytes.Index(label, []byte("-----"))
	if dashes < 0 || !bytes.Contains(label[:dashes], []byte("PRIVATE KEY")) {
		return 0, false
	}
	return at + dashes + len("-----"), true
}

// isPEMBody reports whether c may stand in the body: base64, line ends as they are
// or escaped, the headers of an encrypted key.
func isPEMBody(c byte) bool {
	switch c {
	case '+', '/', '=', '\\', ':', ',', '-', '\n', '\r', ' ', '\t':
		return true
	}
	return isAlnum(c)
}
