package redact

import "bytes"

// element finds the text of an XML element that is named after it, by its tag, by an
// attribute or by the element before: <password>…</password>, <entry key="password">…,
// <key>password</key><string>…. shut is after the quote that closes the name, if one does.
func element(b []byte, n name, shut int) (int, int) {
	from := 0
	switch {
	case n.start == 0:
		return 0, 0
	case shut > n.end && shut < len(b) && b[shut] == '>': // an attribute
		from = shut + 1
	case n.end == len(b) || shut > n.end:
		return 0, 0
	case b[n.end] == '>' && b[n.start-1] == '<':
		from = n.end + 1
	case bytes.HasPrefix(b[n.end:], []byte("</key>")) && b[n.start-1] == '>': // a property list
		next := skip(b, n.end+len("</key>"), maxGap, func(c byte) bool { return isSpace(c) || c == '+' || c == '-' })
		rest, ok := bytes.CutPrefix(b[next:], []byte("<string>"))
		if !ok {
			return 0, 0
		}
		from = len(b) - len(rest)
	default:
		return 0, 0
	}
	end := "</"
	if bytes.HasPrefix(b[from:], []byte("<![CDATA[")) {
		from, end = from+len("<![CDATA["), "]]>"
	}
	to := unquoted(b, from)
	if end == "]]>" {
		to = from + max(0, bytes.Index(b[from:to], []byte("]]")))
	}
	if !bytes.HasPrefix(b[to:], []byte(end)) || !secretText(b[from:to], min(n.how, weak)) {
		return 0, 0
	}
	return from, to
}
