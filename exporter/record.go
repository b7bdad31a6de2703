package exporter

import (
	"github.com/tracesmith/tracesmith/runtypes"
)

// record is one write, serialised: the main object, and the fields that the
// multipart endpoint takes as parts of their own. Both endpoints' bodies are put
// together from these bytes.
type record struct {
	verb   runtypes.Verb
	id     string
	main   []byte // a JSON object
	fields []field
	files  []attachment
}

// field is a member of the run that is not in main.
type field struct {
	name string
	raw  []byte // JSON, never null
}

// newRecord serialises w. The fields come in the order that LangSmith's own
// clients write them.
func newRecord(verb runtypes.Verb, w *runtypes.Wire) record {
	r := record{verb: verb, id: w.ID, main: w.AppendHead(make([]byte, 0, 512)), fields: make([]field, 0, 5)}
	add := func(name string, raw []byte) {
		if len(raw) > 0 {
			r.fields = append(r.fields, field{name, raw})
		}
	}
	add("inputs", w.Inputs)
	add("outputs", w.Outputs)
	add("events", w.Events)
	add("extra", w.Extra)
	if w.Error != "" {
		add("error", runtypes.AppendText(nil, w.Error))
	}
	return r
}

// size is what the record takes in a multipart body, or a little more.
func (r *record) size() int {
	n := partOverhead + len(r.main)
	for _, f := range r.fields {
		n += partOverhead + len(f.raw)
	}
	for i := range r.files {
		n += r.files[i].size()
	}
	return n
}

// omit leaves a field out.
func (r *record) omit(name string) {
	kept := r.fields[:0]
	for _, f := range r.fields {
		if f.name != name {
			kept = append(kept, f)
		}
	}
	r.fields = kept
}

// appendJSON appends the whole run as one object.
func (r *record) appendJSON(dst []byte) []byte {
	dst = append(dst, r.main[:len(r.main)-1]...)
	for _, f := range r.fields {
		dst = append(dst, `,"`...)
		dst = append(dst, f.name...)
		dst = append(dst, `":`...)
		dst = append(dst, f.raw...)
	}
	return append(dst, '}')
}
