package exporter

import (
	"encoding/json"

	"github.com/tracesmith/tracesmith/runtypes"
)

// weight estimates what a run holds in memory and, roughly, on the wire.
func weight(r *runtypes.Run) int64 {
	w := scale(runOverhead + len(r.Name) + len(r.Inputs) + len(r.Outputs) + len(r.Error) + len(r.DottedOrder))
	w.object(r.Metadata, 0)
	w.object(r.Model.InvocationParams, 0)
	for _, tag := range r.Tags {
		w += scale(valueOverhead + len(tag))
	}
	for _, e := range r.Events {
		w += valueOverhead
		w.object(e.Data, 0)
	}
	for _, a := range r.Attachments {
		w += scale(valueOverhead + len(a.Data))
	}
	return int64(w)
}

const (
	runOverhead   = 3 << 9 // the struct, the identity and what frames it on the wire
	valueOverhead = 64
	deepestWeight = 32       // levels of nesting that are looked at
	enoughWeight  = 64 << 20 // bytes from which on a value is not looked into: one may hold itself, many times over
)

// scale is the bytes weighed so far.
type scale int64

func (w *scale) object(m map[string]any, depth int) {
	for key, value := range m {
		*w += scale(valueOverhead + len(key))
		w.value(value, depth)
	}
}

// value looks into the containers that JSON knows.
func (w *scale) value(value any, depth int) {
	if depth > deepestWeight || *w > enoughWeight {
		return
	}
	switch v := value.(type) {
	case string:
		*w += scale(len(v))
	case []byte:
		*w += scale(len(v))
	case json.RawMessage:
		*w += scale(len(v))
	case map[string]any:
		w.object(v, depth+1)
	case []any:
		*w += scale(valueOverhead * len(v))
		for _, each := range v {
			w.value(each, depth+1)
		}
	case []string:
		for _, text := range v {
			*w += scale(valueOverhead + len(text))
		}
	}
}
