package agui

import (
	"encoding/json"
	"slices"
)

// ReservedKey is the metadata key that the protocol keeps for its own conventions. It
// merges like any other key. Tracesmith reads it and never writes it.
const ReservedKey = "ag-ui"

// Metadata is a metadata object: its keys in the order they first came, each with the
// exact bytes of its value. A nil Metadata is absent; an empty one was there and says
// nothing.
type Metadata []Field

// Field is one key of a metadata object. Value is valid JSON, null included.
type Field struct {
	Key   string
	Value json.RawMessage

	raw string // the key as it was written, quotes included; empty: as Go writes it
}

// Get returns the value under a key. Present tells a null from nothing.
func (m Metadata) Get(key string) (value json.RawMessage, present bool) {
	if i := m.index(key); i >= 0 {
		return m[i].Value, true
	}
	return nil, false
}

func (m Metadata) index(key string) int {
	return slices.IndexFunc(m, func(f Field) bool { return f.Key == key })
}

// MarshalJSON writes the object with the bytes its values came with. An absent object
// is null; the protocol has no such thing, so encoders leave it out.
func (m Metadata) MarshalJSON() ([]byte, error) {
	if m == nil {
		return []byte("null"), nil
	}
	return []byte(m.text()), nil
}

// text is the object as it is written.
func (m Metadata) text() string {
	out := []byte{'{'}
	for i, f := range m {
		if i > 0 {
			out = append(out, ',')
		}
		if f.raw != "" {
			out = append(out, f.raw...)
		} else {
			out = appendString(out, f.Key)
		}
		out = append(out, ':')
		out = append(out, f.Value...)
	}
	return string(append(out, '}'))
}

// UnmarshalJSON reads an object; of a key that stands twice the last value counts.
func (m *Metadata) UnmarshalJSON(raw []byte) error {
	md, code := readMetadata(raw)
	if code != "" {
		return &Problem{Code: code}
	}
	*m = md
	return nil
}

// MergeMetadata returns existing with every key of incoming set to incoming's value:
// whole values, never blended, a null like any other. It is how the protocol folds the
// metadata of an item's events in arrival order. Neither argument is changed.
func MergeMetadata(existing, incoming Metadata) Metadata {
	if incoming == nil {
		return existing
	}
	merged := make(Metadata, len(existing), len(existing)+len(incoming))
	copy(merged, existing)
	if len(incoming) <= searched { // to look for a few keys is less than to note all there are
		for _, f := range incoming {
			merged = merged.with(f, merged.index(f.Key))
		}
		return merged
	}
	at := placesOf(merged)
	for _, f := range incoming {
		merged = at.set(merged, f)
	}
	return merged
}

// places finds keys in an object that grows. A small one is searched.
type places map[string]int

// searched is how many keys are searched one after the other.
const searched = 16

func placesOf(m Metadata) places {
	if len(m) <= searched {
		return nil
	}
	at := make(places, len(m))
	for i, f := range m {
		at[f.Key] = i
	}
	return at
}

// set sets a key's value, in its place or at the end.
func (at *places) set(m Metadata, f Field) Metadata {
	if *at == nil && len(m) > searched {
		*at = placesOf(m)
	}
	i, known := 0, false
	if *at == nil {
		i = m.index(f.Key)
		known = i >= 0
	} else {
		i, known = (*at)[f.Key]
	}
	if !known {
		i = -1
		if *at != nil {
			(*at)[f.Key] = len(m)
		}
	}
	return m.with(f, i)
}

// with sets the value of the key at a place; -1: the key is new.
func (m Metadata) with(f Field, i int) Metadata {
	if i < 0 {
		return append(m, f)
	}
	m[i].Value = f.Value
	return m
}

// readMetadata reads what stands under "metadata". The code is empty when it is an
// object.
func readMetadata(raw json.RawMessage) (md Metadata, code string) {
	switch kindOf(raw) {
	case objectKind:
	case nullKind:
		return nil, MetadataNull
	default:
		return nil, MetadataNotObject
	}
	md = Metadata{}
	var at places
	for _, m := range membersOf(raw) {
		md = at.set(md, Field{Key: m.key, Value: m.value, raw: m.raw})
	}
	return md, ""
}
