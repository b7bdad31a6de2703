package exporter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Spool keeps what a Batcher has accepted until it is settled, so that it outlives
// the process. Package exporter/spool has one in a directory. Its methods are safe
// for concurrent use.
type Spool interface {
	// Put keeps an entry, the newest. It keeps no reference to it.
	Put(entry []byte) error
	// Take returns the oldest entries that were not taken yet, with their tickets:
	// about limit bytes, and one at least where there is one. What an earlier
	// process has left comes first.
	Take(limit int64) (tickets []uint64, entries [][]byte, err error)
	// Done forgets entries that were taken.
	Done(tickets []uint64) error
}

var errEntry = errors.New("exporter: not an entry of a spool")

// appendEntry writes a record as a spool keeps it: a line that says what follows,
// and the parts.
//
//	post RUN TRACE main=312 inputs=2048 extra=700
func appendEntry(dst []byte, r *record, trace uuid.UUID) []byte {
	dst = append(dst, r.verb...)
	dst = append(append(dst, ' '), r.id...)
	dst = append(append(dst, ' '), trace.String()...)
	part := func(name string, raw []byte) {
		dst = append(append(append(dst, ' '), name...), '=')
		dst = strconv.AppendInt(dst, int64(len(raw)), 10)
	}
	part("main", r.main)
	for _, f := range r.fields {
		part(f.name, f.raw)
	}
	for i := range r.files {
		part(r.files[i].word(), r.files[i].data)
	}
	dst = append(dst, '\n')
	dst = append(dst, r.main...)
	for _, f := range r.fields {
		dst = append(dst, f.raw...)
	}
	for i := range r.files {
		dst = append(dst, r.files[i].data...)
	}
	return dst
}

// readEntry is the reverse. The item refers to the entry's bytes.
func readEntry(entry []byte, ticket uint64) (*item, error) {
	line, rest, ok := bytes.Cut(entry, []byte{'\n'})
	words := strings.Split(string(line), " ")
	if !ok || len(words) < 4 {
		return nil, errEntry
	}
	run := new(runtypes.Run)
	var err error
	if run.ID, err = uuid.Parse(words[1]); err != nil {
		return nil, errEntry
	}
	if run.TraceID, err = uuid.Parse(words[2]); err != nil {
		return nil, errEntry
	}
	r := record{verb: runtypes.Verb(words[0]), id: words[1]}
	if r.verb != runtypes.Post && r.verb != runtypes.Patch {
		return nil, errEntry
	}
	for _, word := range words[3:] {
		name, length, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(length)
		if err != nil || n < 0 || n > len(rest) {
			return nil, errEntry
		}
		raw := rest[:n:n]
		if file, ok := attachmentOf(name, raw); ok {
			r.files = append(r.files, file)
		} else if name == "main" {
			r.main = raw
		} else {
			r.fields = append(r.fields, field{name, raw})
		}
		rest = rest[n:]
	}
	if len(r.main) == 0 || len(rest) > 0 {
		return nil, errEntry
	}
	it := newItem(runtypes.Op{Verb: r.verb, Run: run})
	it.wire, it.tickets, it.weight = r, []uint64{ticket}, runOverhead+int64(len(entry))
	return it, nil
}

// head reads the members of main.
func (r *record) head() (w runtypes.Wire, err error) {
	if err = json.Unmarshal(r.main, &w); err != nil {
		err = fmt.Errorf("exporter: entry: %w", err)
	}
	return w, err
}

// merge folds a patch into the post of the same run, as a server would.
func (r *record) merge(patch *record) error {
	ours, err := r.head()
	if err != nil {
		return err
	}
	theirs, err := patch.head()
	if err != nil {
		return err
	}
	merged := runtypes.MergeWire(ours, theirs)
	r.main = merged.AppendHead(nil)
	for _, f := range patch.fields {
		r.set(f.name, f.raw)
	}
	r.files = unite(r.files, patch.files)
	return nil
}

// set replaces or adds a field.
func (r *record) set(name string, raw []byte) {
	for i := range r.fields {
		if r.fields[i].name == name {
			r.fields[i].raw = raw
			return
		}
	}
	r.fields = append(r.fields, field{name, raw})
}

// fill completes the run of an item that came out of a spool with what the record
// says of it, for whoever is told that it is lost.
func (it *item) fill() {
	w, err := it.wire.head()
	if err != nil {
		return
	}
	run := it.ops[len(it.ops)-1].Run
	run.Name, run.DottedOrder, run.Tags, run.Project = w.Name, w.DottedOrder, w.Tags, w.SessionName
	run.ParentID, _ = uuid.Parse(w.ParentRunID) // none on a root
	run.Start, run.End, _ = w.Times()           // of our own writing
	for _, f := range it.wire.fields {
		switch f.name {
		case "inputs":
			run.Inputs = f.raw
		case "outputs":
			run.Outputs = f.raw
		case "error":
			_ = json.Unmarshal(f.raw, &run.Error) // ditto
		}
	}
}
