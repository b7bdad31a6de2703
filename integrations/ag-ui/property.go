package agui

import (
	"encoding/json"
	"math/big"
	"strings"
)

// property ties a JSON property to a field of T.
type property[T any] struct {
	name string
	// read sets the field. It returns the code of what is wrong with raw, or "".
	read func(r *reader, t *T, raw json.RawMessage) string
	// write returns the value; nil: absent.
	write func(t *T) json.RawMessage
}

// reader collects what is wrong while a value is read.
type reader struct {
	problems problemList
	place    string // the event's type
}

func (r *reader) report(code, property string) {
	detail := strings.Trim(r.place+"."+property, ".")
	r.problems.add(Problem{Code: code, Detail: detail}, maxEventProblems)
}

// readObject sets the fields of t from a tidy object. Unknown properties are skipped; of
// one that stands twice the last counts, whatever is wrong with those before it.
func readObject[T any](r *reader, props []property[T], raw json.RawMessage, t *T) {
	readMembers(r, props, membersOf(raw), t)
}

func readMembers[T any](r *reader, props []property[T], members []member, t *T) {
	last := make([]int, 0, 16) // of each property, its last place among the members
	for range props {
		last = append(last, -1)
	}
	for at, m := range members {
		if i := placeOf(props, m.key); i >= 0 {
			last[i] = at
		}
	}
	for at, m := range members {
		i := placeOf(props, m.key)
		if i < 0 || last[i] != at {
			continue
		}
		if code := props[i].read(r, t, m.value); code != "" {
			r.report(code, m.key)
		}
	}
}

func placeOf[T any](props []property[T], name string) int {
	for i := range props {
		if props[i].name == name {
			return i
		}
	}
	return -1
}

// writeObject appends t as a JSON object, in the order of its properties.
func writeObject[T any](out []byte, props []property[T], t *T) []byte {
	out = append(out, '{')
	first := true
	for _, p := range props {
		raw := p.write(t)
		if raw == nil {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = appendString(out, p.name)
		out = append(out, ':')
		out = append(out, raw...)
	}
	return append(out, '}')
}

// onNull says what a null in place of a string is.
type onNull string

const (
	nullIsWrong  onNull = BadField
	nullIsSloppy onNull = NullField // the property is absent, and that is what is meant
	nullIsLegacy onNull = ""        // as 0.x producers were told to send it
)

// text is an optional string.
func text[T any](name string, field func(*T) **string, null ...onNull) property[T] {
	return property[T]{
		name: name,
		read: func(_ *reader, t *T, raw json.RawMessage) string {
			*field(t) = nil
			switch kindOf(raw) {
			case stringKind:
				s := textOf(raw)
				*field(t) = &s
				return ""
			case nullKind:
				if len(null) > 0 {
					return string(null[0])
				}
			}
			return string(nullIsWrong)
		},
		write: func(t *T) json.RawMessage {
			if s := *field(t); s != nil {
				return appendString(nil, *s)
			}
			return nil
		},
	}
}

// anyJSON is an open value; keepNull says that a null is a value and not an absence.
func anyJSON[T any](name string, field func(*T) *json.RawMessage, keepNull bool) property[T] {
	return property[T]{
		name: name,
		read: func(_ *reader, t *T, raw json.RawMessage) string {
			*field(t) = raw
			if !keepNull && kindOf(raw) == nullKind {
				*field(t) = nil
			}
			return ""
		},
		write: func(t *T) json.RawMessage { return *field(t) },
	}
}

// typedJSON is an open value of one or two kinds.
func typedJSON[T any](name string, field func(*T) *json.RawMessage, kinds ...kind) property[T] {
	return property[T]{
		name: name,
		read: func(_ *reader, t *T, raw json.RawMessage) string {
			for _, k := range kinds {
				if kindOf(raw) == k {
					*field(t) = raw
					return ""
				}
			}
			return BadField
		},
		write: func(t *T) json.RawMessage { return *field(t) },
	}
}

func metadataOf[T any](field func(*T) *Metadata) property[T] {
	return property[T]{
		name: "metadata",
		read: func(_ *reader, t *T, raw json.RawMessage) (code string) {
			*field(t), code = readMetadata(raw)
			return code
		},
		write: func(t *T) json.RawMessage {
			md := *field(t)
			if md == nil {
				return nil
			}
			raw, err := md.MarshalJSON()
			if err != nil {
				return nil
			}
			return raw
		},
	}
}

// whole is an integer; least bounds it from below. 1e3 is one, 1.5 is not.
func whole[T any](name string, field func(*T) **int64, least int64) property[T] {
	return property[T]{
		name: name,
		read: func(_ *reader, t *T, raw json.RawMessage) string {
			n, ok := integer(raw)
			if !ok || n < least {
				return BadField
			}
			*field(t) = &n
			return ""
		},
		write: func(t *T) json.RawMessage {
			if n := *field(t); n != nil {
				raw, err := json.Marshal(*n)
				if err != nil {
					return nil
				}
				return raw
			}
			return nil
		},
	}
}

// integer reads a number that is whole and fits 64 bits.
func integer(raw json.RawMessage) (int64, bool) {
	if kindOf(raw) != numberKind {
		return 0, false
	}
	var n int64
	if json.Unmarshal(raw, &n) == nil {
		return n, true
	}
	if len(raw) > 40 { // an exponent could ask for a number of any size
		return 0, false
	}
	f, _, err := big.ParseFloat(string(raw), 10, 128, big.ToNearestEven)
	if err != nil || f.MantExp(nil) > 64 || !f.IsInt() {
		return 0, false
	}
	n, exact := f.Int64()
	return n, exact == big.Exact
}

func boolean[T any](name string, field func(*T) **bool) property[T] {
	return property[T]{
		name: name,
		read: func(_ *reader, t *T, raw json.RawMessage) string {
			if kindOf(raw) != boolKind {
				return BadField
			}
			b := raw[0] == 't'
			*field(t) = &b
			return ""
		},
		write: func(t *T) json.RawMessage {
			switch b := *field(t); {
			case b == nil:
				return nil
			case *b:
				return json.RawMessage("true")
			}
			return json.RawMessage("false")
		},
	}
}

// object is an optional object of a known shape.
func object[T, E any](name string, field func(*T) **E, props []property[E]) property[T] {
	return property[T]{
		name: name,
		read: func(r *reader, t *T, raw json.RawMessage) string {
			switch kindOf(raw) {
			case objectKind:
				e := new(E)
				readObject(r, props, raw, e)
				*field(t) = e
			case nullKind:
			default:
				return BadField
			}
			return ""
		},
		write: func(t *T) json.RawMessage {
			if e := *field(t); e != nil {
				return writeObject(nil, props, e)
			}
			return nil
		},
	}
}

// list is an array of objects of a known shape. keep says whether an element is one that
// is known; nil: all are.
func list[T, E any](name string, field func(*T) *[]E, props []property[E], keep func(*E) bool) property[T] {
	return property[T]{
		name: name,
		read: func(r *reader, t *T, raw json.RawMessage) string {
			if kindOf(raw) != arrayKind {
				return BadField
			}
			all := []E{}
			for _, each := range elementsOf(raw) {
				if kindOf(each) != objectKind {
					r.report(BadField, name)
					continue
				}
				var e E
				readObject(r, props, each, &e)
				if keep != nil && !keep(&e) {
					r.report(UnknownMember, name)
					continue
				}
				all = append(all, e)
			}
			*field(t) = all
			return ""
		},
		write: func(t *T) json.RawMessage {
			all := *field(t)
			if all == nil {
				return nil
			}
			out := json.RawMessage{'['}
			for i := range all {
				if i > 0 {
					out = append(out, ',')
				}
				out = writeObject(out, props, &all[i])
			}
			return append(out, ']')
		},
	}
}

// texts is an array of strings.
func texts[T any](name string, field func(*T) *[]string) property[T] {
	return property[T]{
		name: name,
		read: func(_ *reader, t *T, raw json.RawMessage) string {
			var all []string
			if kindOf(raw) != arrayKind || json.Unmarshal(raw, &all) != nil {
				return BadField
			}
			*field(t) = all
			return ""
		},
		write: func(t *T) json.RawMessage {
			all := *field(t)
			if all == nil {
				return nil
			}
			out := json.RawMessage{'['}
			for i, s := range all {
				if i > 0 {
					out = append(out, ',')
				}
				out = appendString(out, s)
			}
			return append(out, ']')
		},
	}
}
