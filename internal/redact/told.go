package redact

import "bytes"

// maxBeside bounds how far from a member another one of its object is looked for.
const maxBeside = 2 << 10

// told says what a key's value is by what its document says of it, whatever the key is.
func (w *walker) told(key []byte) verdict {
	switch string(key) {
	case "data", "stringData":
		if w.opens('{') && secretNear(w.doc, w.next) {
			return verdict{rule: "secret", how: data}
		}
	case "sensitive": // of an output of Terraform
		if value := skip(w.doc, w.next+1, maxBlanks, isSpace); !w.list && bytes.HasPrefix(w.doc[value:], []byte("true")) {
			w.named = verdict{rule: "secret", how: strong}
		}
	case "result":
		if w.beside(`"random_password"`) {
			return verdict{rule: "password", how: strong}
		}
	case "d", "p", "q", "dp", "dq", "qi", "k": // of a JSON Web Key
		if w.opens('"') && w.beside(`"kty"`) {
			return verdict{rule: "private-key", how: faint}
		}
	}
	if w.holder.how == data {
		return w.holder
	}
	return verdict{}
}

// opens reports whether the value that comes next begins with c.
func (w *walker) opens(c byte) bool {
	value := skip(w.doc, w.next+1, maxGap, isSpace)
	return value < len(w.doc) && w.doc[value] == c
}

// beside reports whether a text stands near the key in the document.
func (w *walker) beside(text string) bool {
	return bytes.Contains(w.doc[max(0, w.next-maxBeside):min(len(w.doc), w.next+maxBeside)], []byte(text))
}
