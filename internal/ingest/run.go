package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tracesmith/tracesmith/runtypes"
)

// object is a run as it arrives: its fields, undecoded.
type object map[string]json.RawMessage

// runTypes are the values LangSmith takes for run_type.
var runTypes = []string{"tool", "chain", "llm", "retriever", "embedding", "prompt", "parser"}

func parseObject(raw []byte) (object, error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, err
	}
	if o == nil {
		return nil, errors.New("null")
	}
	return o, nil
}

// wire checks the shape of every field and builds the run.
func (o object) wire(verb runtypes.Verb) (runtypes.Wire, error) {
	var w runtypes.Wire
	for key, raw := range o {
		if string(raw) == "null" {
			return w, invalid("%s: %.60q must not be null", verb, key)
		}
	}
	for _, field := range []struct {
		key string
		to  *string
	}{
		{"id", &w.ID}, {"trace_id", &w.TraceID}, {"parent_run_id", &w.ParentRunID},
		{"dotted_order", &w.DottedOrder}, {"name", &w.Name}, {"run_type", &w.RunType},
		{"session_name", &w.SessionName}, {"error", &w.Error}, {"status", new(string)},
	} {
		text, err := o.text(field.key)
		if err != nil {
			return w, invalid("%s: %s must be a string", verb, field.key)
		}
		*field.to = text
	}
	if err := o.identify(verb, &w); err != nil {
		return w, err
	}
	if err := o.times(verb, &w); err != nil {
		return w, err
	}
	return w, o.content(&w)
}

// identify checks the ids and the type of a run whose texts are filled in.
func (o object) identify(verb runtypes.Verb, w *runtypes.Wire) error {
	for _, id := range []struct {
		key   string
		value *string
		must  bool
	}{{"id", &w.ID, true}, {"trace_id", &w.TraceID, true}, {"parent_run_id", &w.ParentRunID, false}} {
		_, there := o[id.key]
		if (there || id.must) && !isUUID(*id.value) {
			return invalid("%s: %s must be a UUID", verb, id.key)
		}
		*id.value = strings.ToLower(*id.value)
	}
	if w.DottedOrder == "" {
		return invalid("run %s: dotted_order is required", w.ID)
	}
	if _, there := o["run_type"]; (there || verb == runtypes.Post) && !slices.Contains(runTypes, w.RunType) {
		return invalid("run %s: run_type must be one of %s", w.ID, strings.Join(runTypes, " "))
	}
	return nil
}

func (o object) times(verb runtypes.Verb, w *runtypes.Wire) error {
	for _, field := range []struct {
		key  string
		to   *string
		must bool
	}{{"start_time", &w.StartTime, verb == runtypes.Post}, {"end_time", &w.EndTime, false}} {
		raw, there := o[field.key]
		if !there && !field.must {
			continue
		}
		at, err := parseTime(raw)
		if err != nil {
			return invalid("run %s: %s must be a time with a zone", w.ID, field.key)
		}
		*field.to = at.Format(runtypes.TimeLayout)
	}
	return nil
}

func (o object) content(w *runtypes.Wire) error {
	for _, field := range []struct {
		key string
		to  *json.RawMessage
	}{{"inputs", &w.Inputs}, {"outputs", &w.Outputs}, {"extra", &w.Extra}, {"serialized", new(json.RawMessage)}} {
		raw, there := o[field.key]
		if there && first(raw) != '{' {
			return invalid("run %s: %s must be an object", w.ID, field.key)
		}
		*field.to = raw
	}
	if raw, there := o["tags"]; there && json.Unmarshal(raw, &w.Tags) != nil {
		return invalid("run %s: tags must be a list of strings", w.ID)
	}
	if raw, there := o["events"]; there {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil ||
			slices.ContainsFunc(list, func(e json.RawMessage) bool { return first(e) != '{' }) {
			return invalid("run %s: events must be a list of objects", w.ID)
		}
		w.Events = raw
	}
	return nil
}

// text returns a field that is a string, empty if it is not there.
func (o object) text(key string) (string, error) {
	raw, ok := o[key]
	if !ok {
		return "", nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// maxMillis is the year 10000, which no layout can write.
const maxMillis = 253_402_300_800_000

// parseTime reads RFC 3339 with a zone, or a number of milliseconds since 1970,
// which LangSmith's JavaScript client sends.
func parseTime(raw json.RawMessage) (time.Time, error) {
	if first(raw) != '"' {
		ms, err := strconv.ParseFloat(string(bytes.TrimSpace(raw)), 64)
		if err != nil {
			return time.Time{}, err
		}
		if ms < 0 || ms >= maxMillis {
			return time.Time{}, errors.New("out of range")
		}
		return time.UnixMicro(int64(ms * 1000)).UTC(), nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	return at.UTC(), err
}

// first is the first byte of a JSON value, 0 if there is none.
func first(raw []byte) byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}

// rough is what can be told of a run that was refused: whose it is.
func (o object) rough() (w runtypes.Wire) {
	for key, to := range map[string]*string{
		"id": &w.ID, "trace_id": &w.TraceID, "parent_run_id": &w.ParentRunID, "name": &w.Name, "dotted_order": &w.DottedOrder,
	} {
		*to, _ = o.text(key) // of another type: it tells nothing
	}
	w.ID, w.TraceID = strings.ToLower(w.ID), strings.ToLower(w.TraceID)
	if raw := o["extra"]; first(raw) == '{' {
		w.Extra = raw
	}
	return w
}

// readJSON checks a body or a part. A lenient reader mends text that is no UTF-8, and
// takes integers of any size.
func (b *batch) readJSON(where string, raw []byte) ([]byte, error) {
	if !b.lenient {
		return raw, checkJSON(where, raw)
	}
	if !json.Valid(raw) {
		return nil, invalid("%s is not valid JSON", where)
	}
	return bytes.ToValidUTF8(raw, []byte("\uFFFD")), nil
}

// checkJSON refuses what is no JSON, no UTF-8, or holds an integer that 64 bits
// do not.
func checkJSON(where string, raw []byte) error {
	switch {
	case !json.Valid(raw):
		return invalid("%s is not valid JSON", where)
	case !utf8.Valid(raw):
		return invalid("%s is not valid UTF-8", where)
	case bigInteger(raw):
		return invalid("%s holds an integer that is too big to convert", where)
	}
	return nil
}

// bigInteger looks for an integer beyond 64 bits in valid JSON.
func bigInteger(raw []byte) bool {
	const digits = 19 // of the largest int64
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case c == '-' || '0' <= c && c <= '9':
			from := i
			for i+1 < len(raw) && strings.IndexByte("+-.eE0123456789", raw[i+1]) >= 0 {
				i++
			}
			number := string(raw[from : i+1])
			if len(number) < digits || strings.ContainsAny(number, ".eE") {
				continue
			}
			if _, err := strconv.ParseInt(number, 10, 64); err != nil {
				return true
			}
		}
	}
	return false
}
