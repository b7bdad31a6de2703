package exporter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/runtypes"
)

// redactor returns a run without its secrets and leaves the one it is given alone.
type redactor func(*runtypes.Run) (*runtypes.Run, error)

// newRedactor wraps Config.Redact. The built-in rules copy what they change, so
// they need a shallow copy only, and [NoRedaction] needs none; what a caller's
// function does is not known.
func newRedactor(custom func(*runtypes.Run) error) redactor {
	switch {
	case custom == nil:
		return func(r *runtypes.Run) (*runtypes.Run, error) {
			c := *r
			return &c, redact.Run(&c)
		}
	case reflect.ValueOf(custom).Pointer() == reflect.ValueOf(NoRedaction).Pointer():
		return func(r *runtypes.Run) (*runtypes.Run, error) { return r, nil }
	}
	return func(r *runtypes.Run) (*runtypes.Run, error) {
		c := clone(r)
		return c, custom(c)
	}
}

// guard turns a panic of code that is not ours, such as a redaction or a value's
// MarshalJSON, into an error. The panic's value may quote content: only its type
// is kept.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("exporter: panic: %T", p)
		}
	}()
	return f()
}

// clone copies a run so deeply that a redaction cannot reach the caller's.
func clone(r *runtypes.Run) *runtypes.Run {
	c := *r
	c.Inputs, c.Outputs = bytes.Clone(r.Inputs), bytes.Clone(r.Outputs)
	c.Metadata = cloneMap(r.Metadata, 0)
	c.Model.InvocationParams = cloneMap(r.Model.InvocationParams, 0)
	c.Tags = slices.Clone(r.Tags)
	c.Events = slices.Clone(r.Events)
	for i := range c.Events {
		c.Events[i].Data = cloneMap(c.Events[i].Data, 0)
	}
	c.Attachments = slices.Clone(r.Attachments)
	for i := range c.Attachments {
		c.Attachments[i].Data = bytes.Clone(c.Attachments[i].Data)
	}
	if r.Usage != nil {
		u := *r.Usage
		u.InputDetails, u.OutputDetails = maps.Clone(u.InputDetails), maps.Clone(u.OutputDetails)
		c.Usage = &u
	}
	return &c
}

// deepestClone is how far values may hold each other. One that goes deeper holds
// itself, and there is no JSON of it.
const deepestClone = 1000

var errEndless = errors.New("exporter: a value holds itself")

func cloneMap(m map[string]any, depth int) map[string]any {
	c := maps.Clone(m)
	for key, value := range c {
		c[key] = cloneValue(value, depth)
	}
	return c
}

// cloneValue copies the containers that JSON knows; anything else is shared. It
// panics where that would never end: see guard.
func cloneValue(value any, depth int) any {
	if depth > deepestClone {
		panic(errEndless)
	}
	switch v := value.(type) {
	case map[string]any:
		return cloneMap(v, depth+1)
	case []any:
		c := slices.Clone(v)
		for i := range c {
			c[i] = cloneValue(c[i], depth+1)
		}
		return c
	case map[string]string:
		return maps.Clone(v)
	case []string:
		return slices.Clone(v)
	case []byte:
		return bytes.Clone(v)
	case json.RawMessage:
		return slices.Clone(v) // keeps the type: plain bytes would be written as base64
	default:
		return value
	}
}
