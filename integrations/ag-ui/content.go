package agui

import "encoding/json"

// content is what a message or a result says: a string, or parts, of which those of a
// kind this package does not know are left out. Other is the kind of value it may be
// besides; null says what is wrong with a null.
func content[T any](field func(*T) *json.RawMessage, null string, other kind) property[T] {
	return property[T]{
		name: "content",
		read: func(r *reader, t *T, raw json.RawMessage) string {
			*field(t) = nil
			switch kindOf(raw) {
			case stringKind, other:
				*field(t) = raw
			case arrayKind:
				*field(t) = knownParts(r, raw)
			case nullKind:
				return null
			default:
				return BadField
			}
			return ""
		},
		write: func(t *T) json.RawMessage { return *field(t) },
	}
}

// knownParts returns the parts that this package knows, with the bytes they came with.
func knownParts(r *reader, raw json.RawMessage) json.RawMessage {
	out := json.RawMessage{'['}
	for _, part := range elementsOf(raw) {
		switch {
		case kindOf(part) != objectKind:
			r.report(BadField, "content")
		case !knownPart(textOf(lookUp(part, "type"))):
			r.report(UnknownMember, "content")
		default:
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, part...)
		}
	}
	return append(out, ']')
}

func knownPart(kind string) bool {
	switch kind {
	case "text", "image", "audio", "video", "document", "binary":
		return true
	}
	return false
}
