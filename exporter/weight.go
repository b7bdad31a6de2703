package exporter

import "github.com/tracesmith/tracesmith/runtypes"

// weight estimates what a run holds in memory and, roughly, on the wire.
func weight(r *runtypes.Run) int64 {
	n := runOverhead + len(r.Inputs) + len(r.Outputs) + len(r.Error) + len(r.DottedOrder)
	n += weightOf(r.Metadata) + weightOf(r.Model.InvocationParams)
	for _, e := range r.Events {
		n += valueOverhead + weightOf(e.Data)
	}
	for _, a := range r.Attachments {
		n += valueOverhead + len(a.Data)
	}
	return int64(n)
}

const (
	runOverhead   = 3 << 9 // the struct, the identity and what frames it on the wire
	valueOverhead = 64
)

// weightOf looks at a map's own values only: nested ones are rare and small.
func weightOf(m map[string]any) int {
	n := 0
	for key, value := range m {
		n += valueOverhead + len(key)
		switch v := value.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		}
	}
	return n
}
