package exporter

import (
	"encoding/json"

	"github.com/tracesmith/tracesmith/runtypes"
)

// weight estimates what a run holds in memory and, roughly, on the wire.
func weight(r *runtypes.Run) int64 {
	n := runOverhead + len(r.Name) + len(r.Inputs) + len(r.Outputs) + len(r.Error) + len(r.DottedOrder)
	n += weightOf(r.Metadata, 0) + weightOf(r.Model.InvocationParams, 0)
	for _, tag := range r.Tags {
		n += valueOverhead + len(tag)
	}
	for _, e := range r.Events {
		n += valueOverhead + weightOf(e.Data, 0)
	}
	for _, a := range r.Attachments {
		n += valueOverhead + len(a.Data)
	}
	return int64(n)
}

const (
	runOverhead   = 3 << 9 // the struct, the identity and what frames it on the wire
	valueOverhead = 64
	deepestWeight = 32 // levels of nesting that are looked at
)

func weightOf(m map[string]any, depth int) int {
	n := 0
	for key, value := range m {
		n += valueOverhead + len(key) + weightOfValue(value, depth)
	}
	return n
}

// weightOfValue looks into the containers that JSON knows.
func weightOfValue(value any, depth int) int {
	switch v := value.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	case json.RawMessage:
		return len(v)
	case map[string]any:
		if depth < deepestWeight {
			return weightOf(v, depth+1)
		}
	case []any:
		n := valueOverhead * len(v)
		for i := 0; i < len(v) && depth < deepestWeight; i++ {
			n += weightOfValue(v[i], depth+1)
		}
		return n
	case []string:
		n := 0
		for _, text := range v {
			n += valueOverhead + len(text)
		}
		return n
	}
	return 0
}
