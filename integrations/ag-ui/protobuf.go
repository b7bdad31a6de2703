package agui

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// operations are the names of the schema's enum of patch operations.
var operations = []string{"add", "remove", "replace", "move", "copy", "test"}

// DecodeProtobuf reads one ag_ui.Event, as DecodeJSON does one of JSON. The arm of the
// envelope says what the event is. Numbers in open values are doubles.
func DecodeProtobuf(raw []byte) (*Event, []Problem) {
	a, body, code := openEnvelope(raw)
	if code != "" {
		return nil, []Problem{{Code: code}}
	}
	d := wireDecoder{reader: reader{place: string(a.event)}}
	fields, err := d.message(a.message, body)
	if err != nil {
		return nil, []Problem{{Code: BadFrame, Detail: string(a.event)}}
	}
	if declared := recordOf(fields.get(baseField)).get("type"); !agrees(a, declared) {
		d.report(ArmMismatch, "")
	}
	e, problems := decodeObject(joinEvent(a.event, fields).json())
	return e, append(d.problems.all(), problems...)
}

// agrees reports whether the type that an event gives itself is its arm's. The enum's
// zero is not written.
func agrees(a *arm, declared json.RawMessage) bool {
	if declared == nil {
		declared = json.RawMessage("0")
	}
	return string(declared) == strconv.FormatInt(a.enum, 10)
}

// openEnvelope finds the one arm of an envelope and its bytes. Two pieces of one arm are
// one message.
func openEnvelope(raw []byte) (a *arm, body []byte, code string) {
	future := false
	var pieces [][]byte
	err := fieldsOf(raw, func(n protowire.Number, t protowire.Type, value []byte) error {
		known := armAt(n)
		switch {
		case known == nil:
			future = future || t == protowire.BytesType
			return nil
		case t != protowire.BytesType, a != nil && a != known:
			return errWire
		}
		a, pieces = known, append(pieces, value)
		return nil
	})
	switch {
	case err != nil || a == nil && !future:
		return nil, nil, BadFrame
	case a == nil:
		return nil, nil, UnknownEvent
	}
	return a, join(pieces), ""
}

// wireDecoder turns messages into records.
type wireDecoder struct{ reader }

func (d *wireDecoder) message(m *wireMessage, raw []byte) (record, error) {
	found := make([][][]byte, len(m.fields))
	err := fieldsOf(raw, func(n protowire.Number, t protowire.Type, value []byte) error {
		for i := range m.fields {
			f := &m.fields[i]
			if f.number != n || t != f.wireType() {
				continue
			}
			if m.union {
				for j := range found {
					if j != i {
						found[j] = nil
					}
				}
			}
			found[i] = append(found[i], value)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var r record
	for i, f := range m.fields {
		value, err := d.field(f, found[i])
		if err != nil {
			return nil, err
		}
		if value != nil {
			r = append(r, entry{f.name, value})
		}
	}
	if m.fromWire != nil {
		r = m.fromWire(r)
	}
	return r, nil
}

func (f *wireField) wireType() protowire.Type {
	switch f.kind {
	case wireInt, wireBool, wireEnum:
		return protowire.VarintType
	}
	return protowire.BytesType
}

// field returns the JSON of a field that stood as often as there are values; nil: absent.
func (d *wireDecoder) field(f wireField, values [][]byte) (json.RawMessage, error) {
	if len(values) == 0 {
		switch f.kind {
		case wireText:
			return json.RawMessage(`""`), nil
		case wireEnum:
			return appendString(nil, operations[0]), nil
		}
		return nil, nil
	}
	last := values[len(values)-1]
	switch f.kind {
	case wireText, wireOption:
		return appendString(nil, validText(last)), nil
	case wireInt:
		n, _ := protowire.ConsumeVarint(last)
		return strconv.AppendInt(nil, int64(n), 10), nil
	case wireBool:
		n, _ := protowire.ConsumeVarint(last)
		return strconv.AppendBool(nil, n != 0), nil
	case wireEnum:
		n, _ := protowire.ConsumeVarint(last)
		return appendString(nil, operationName(n)), nil
	case wireTexts, wireMany:
		return d.list(f, values)
	}
	whole := join(values)
	switch f.kind {
	case wireValue:
		return appendValue(nil, whole, 0)
	case wireStruct:
		return appendStruct(nil, whole, 0)
	}
	r, err := d.message(f.of, whole)
	if err != nil || r == nil && f.of.fromWire != nil {
		return nil, err
	}
	return r.json(), nil
}

// operationName names a patch operation; one that is not known keeps its number.
func operationName(n uint64) string {
	if n < uint64(len(operations)) {
		return operations[n]
	}
	return strconv.FormatUint(n, 10)
}

func (d *wireDecoder) list(f wireField, values [][]byte) (json.RawMessage, error) {
	out := json.RawMessage{'['}
	for _, v := range values {
		var each json.RawMessage
		if f.kind == wireTexts {
			each = appendString(nil, validText(v))
		} else {
			r, err := d.message(f.of, v)
			if err != nil {
				return nil, err
			}
			if r == nil && f.of.fromWire != nil {
				d.report(UnknownMember, f.name)
				continue
			}
			each = r.json()
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, each...)
	}
	return append(out, ']'), nil
}

// Peer is who is to read protobuf.
type Peer int

// Peers. What is not known to read 1.0 is taken for older.
const (
	PeerUnknown Peer = iota
	PeerV1           // reads every event of protocol 1.0
)

// UnsupportedError says that a peer cannot be sent an event as protobuf.
type UnsupportedError struct{ Event Type }

// Error implements error.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("agui: protobuf older than protocol 1.0 has no %s", e.Event)
}

var errNoArm = errors.New("agui: no protobuf form")

// EncodeProtobuf writes one ag_ui.Event. For a peer that is not known to read protocol
// 1.0 it refuses, with an *UnsupportedError, what the protobuf before it cannot carry:
// tool results, activities, reasoning and subagents.
func EncodeProtobuf(e *Event, peer Peer) ([]byte, error) {
	a := armOf(e.Type)
	if a == nil {
		return nil, fmt.Errorf("%w for %s", errNoArm, e.Type)
	}
	if a.number > lastOldArm && peer != PeerV1 {
		return nil, &UnsupportedError{Event: e.Type}
	}
	raw, err := e.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if raw, err = tidy(raw); err != nil {
		return nil, err
	}
	body, err := encodeMessage(a.message, splitEvent(a, recordOf(raw)))
	if err != nil {
		return nil, fmt.Errorf("agui: encode %s: %w", e.Type, err)
	}
	return appendBytes(nil, a.number, body), nil
}

// AppendFrame appends an encoded event with its length before it, as streams have it.
func AppendFrame(out, event []byte) []byte {
	return append(binary.BigEndian.AppendUint32(out, uint32(len(event))), event...)
}

func encodeMessage(m *wireMessage, r record) (out []byte, err error) {
	if m.toWire != nil {
		if r, err = m.toWire(r); err != nil {
			return nil, err
		}
	}
	if m.union {
		if len(r) != 1 || kindOf(r[0].value) != objectKind || !m.has(r[0].name) {
			return nil, errors.New("content that protobuf has no form for")
		}
	}
	for _, f := range m.fields {
		value := r.get(f.name)
		if value == nil || kindOf(value) == nullKind && f.kind != wireValue {
			continue
		}
		if out, err = encodeField(out, f, value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (m *wireMessage) has(name string) bool {
	for _, f := range m.fields {
		if f.name == name {
			return true
		}
	}
	return false
}

func encodeField(out []byte, f wireField, value json.RawMessage) ([]byte, error) {
	var body []byte
	var err error
	switch f.kind {
	case wireText, wireOption:
		if f.kind == wireText && string(value) == `""` {
			return out, nil
		}
		body = []byte(textOf(value))
	case wireInt, wireBool, wireEnum:
		n, err := varintOf(f, value)
		if err != nil {
			return nil, err
		}
		return protowire.AppendVarint(protowire.AppendTag(out, f.number, protowire.VarintType), n), nil
	case wireValue:
		body, err = encodeValue(value, 0)
	case wireStruct:
		if kindOf(value) != objectKind {
			return nil, fmt.Errorf("%s is no object", f.name)
		}
		body, err = encodeStruct(value, 0)
	case wireOne:
		body, err = encodeMessage(f.of, recordOf(value))
	case wireMany, wireTexts:
		return encodeList(out, f, value)
	}
	if err != nil {
		return nil, err
	}
	return appendBytes(out, f.number, body), nil
}

func encodeList(out []byte, f wireField, value json.RawMessage) ([]byte, error) {
	if kindOf(value) != arrayKind {
		return nil, fmt.Errorf("%s is no list", f.name)
	}
	for _, each := range elementsOf(value) {
		body := []byte(textOf(each))
		if f.kind == wireMany {
			var err error
			if body, err = encodeMessage(f.of, recordOf(each)); err != nil {
				return nil, err
			}
		}
		out = appendBytes(out, f.number, body)
	}
	return out, nil
}

func varintOf(f wireField, value json.RawMessage) (uint64, error) {
	switch f.kind {
	case wireBool:
		return protowire.EncodeBool(string(value) == "true"), nil
	case wireEnum:
		for i, name := range operations {
			if name == textOf(value) {
				return uint64(i), nil
			}
		}
		return 0, fmt.Errorf("patch operation that protobuf has no form for")
	}
	n, ok := integer(value)
	if !ok {
		return 0, fmt.Errorf("%s is no integer", f.name)
	}
	return uint64(n), nil
}
