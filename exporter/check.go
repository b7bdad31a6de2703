package exporter

import (
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

var errMissing = errors.New("missing")

// check finds what no repair can mend in an op, as far as that takes no look at
// its payload.
func check(op runtypes.Op) error {
	r := op.Run
	if r == nil {
		return &runtypes.FieldError{Field: "run", Err: errMissing}
	}
	fault := func(field string, err error) error {
		return &runtypes.FieldError{Run: r.ID, Field: field, Err: err}
	}
	switch {
	case op.Verb != runtypes.Post && op.Verb != runtypes.Patch:
		return fault("verb", fmt.Errorf("%q is neither post nor patch", op.Verb))
	case r.ID == uuid.Nil:
		return fault("id", errMissing)
	case r.TraceID == uuid.Nil:
		return fault("trace_id", errMissing)
	case r.Start.IsZero():
		return fault("start_time", errMissing)
	case r.DottedOrder == "":
		return fault("dotted_order", errMissing)
	}
	if err := checkOrder(r); err != nil {
		return fault("dotted_order", err)
	}
	return nil
}
