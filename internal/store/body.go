package store

import (
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/tracesmith/tracesmith/runtypes"
)

// maxEvents is the size of a run's events, in bytes, up to which they stay with its
// other columns: when the first token came is among them.
const maxEvents = 8 << 10

// body is what makes runs long, and lists do not ask for.
type body struct{ inputs, outputs, events sql.NullString }

// split takes the long parts out of a run.
func split(w runtypes.Wire) (head runtypes.Wire, long body, err error) {
	move := func(from *json.RawMessage, to *sql.NullString) {
		raw, cleaned := runtypes.Clean(*from)
		if err = errors.Join(err, cleaned); len(raw) > 0 {
			*to = sql.NullString{String: string(raw), Valid: true}
		}
		*from = nil
	}
	if len(w.Inputs) > 0 {
		move(&w.Inputs, &long.inputs)
	}
	if len(w.Outputs) > 0 {
		move(&w.Outputs, &long.outputs)
	}
	if len(w.Events) > maxEvents {
		move(&w.Events, &long.events)
	}
	return w, long, err
}

// join puts them back. What the run has itself, as schema 1 wrote it, is newer.
func (b body) join(w *runtypes.Wire) {
	back := func(to *json.RawMessage, from sql.NullString) {
		if len(*to) == 0 && from.Valid {
			*to = json.RawMessage(from.String)
		}
	}
	back(&w.Inputs, b.inputs)
	back(&w.Outputs, b.outputs)
	back(&w.Events, b.events)
}

func (b body) size() int64 {
	return int64(len(b.inputs.String) + len(b.outputs.String) + len(b.events.String))
}

// wholeRun selects a run with its long parts; scanWhole reads that.
const wholeRun = `r.wire, b.inputs, b.outputs, b.events FROM runs r LEFT JOIN bodies b ON b.id = r.id`

func scanWhole(rows *sql.Rows) (runtypes.Wire, error) {
	var head string
	var long body
	if err := rows.Scan(&head, &long.inputs, &long.outputs, &long.events); err != nil {
		return runtypes.Wire{}, err
	}
	w, err := decode(head)
	if err == nil {
		long.join(&w)
	}
	return w, err
}
