package agui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxDepth is how deep a google.protobuf.Value may be nested.
const maxDepth = 1000

var errWire = errors.New("agui: malformed protobuf")

// fieldsOf calls each with every field of a message: number, wire type, and the value's
// bytes, without their length where they have one.
func fieldsOf(raw []byte, each func(protowire.Number, protowire.Type, []byte) error) error {
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return errWire
		}
		raw = raw[n:]
		size := protowire.ConsumeFieldValue(number, kind, raw)
		if size < 0 {
			return errWire
		}
		value := raw[:size:size]
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(value)
		}
		if err := each(number, kind, value); err != nil {
			return err
		}
		raw = raw[size:]
	}
	return nil
}

// appendValue appends a google.protobuf.Value as JSON. A value of no kind appends
// nothing.
func appendValue(out, raw []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, errWire
	}
	var kind protowire.Number
	var pieces [][]byte // of a struct or list there may be several, which are one message
	err := fieldsOf(raw, func(n protowire.Number, t protowire.Type, value []byte) error {
		if n < 1 || n > 6 || t != valueTypes[n] {
			return nil
		}
		if n != kind || n < 5 {
			pieces = pieces[:0]
		}
		kind, pieces = n, append(pieces, value)
		return nil
	})
	if err != nil {
		return nil, err
	}
	held := join(pieces)
	switch kind {
	case 1:
		return append(out, "null"...), nil
	case 2:
		bits, _ := protowire.ConsumeFixed64(held)
		return appendNumber(out, math.Float64frombits(bits)), nil
	case 3:
		return appendString(out, validText(held)), nil
	case 4:
		bit, _ := protowire.ConsumeVarint(held)
		return strconv.AppendBool(out, bit != 0), nil
	case 5:
		return appendStruct(out, held, depth)
	case 6:
		return appendList(out, held, depth)
	}
	return out, nil
}

// valueTypes are the wire types of the arms of a Value.
var valueTypes = [...]protowire.Type{
	1: protowire.VarintType, 2: protowire.Fixed64Type, 3: protowire.BytesType,
	4: protowire.VarintType, 5: protowire.BytesType, 6: protowire.BytesType,
}

// join makes one message of its pieces.
func join(pieces [][]byte) []byte {
	if len(pieces) == 1 {
		return pieces[0]
	}
	return bytes.Join(pieces, nil)
}

// appendNumber writes a double as JSON does; what JSON has no number for is null.
func appendNumber(out []byte, f float64) []byte {
	raw, err := json.Marshal(f)
	if err != nil {
		return append(out, "null"...)
	}
	return append(out, raw...)
}

func appendStruct(out, raw []byte, depth int) ([]byte, error) {
	type pair struct {
		key    string
		pieces [][]byte
	}
	var pairs []pair
	place := map[string]int{}
	err := fieldsOf(raw, func(n protowire.Number, t protowire.Type, entry []byte) error {
		if n != 1 || t != protowire.BytesType {
			return nil
		}
		var p pair
		err := fieldsOf(entry, func(n protowire.Number, t protowire.Type, value []byte) error {
			switch {
			case n == 1 && t == protowire.BytesType:
				p.key = validText(value)
			case n == 2 && t == protowire.BytesType:
				p.pieces = append(p.pieces, value)
			}
			return nil
		})
		if i, twice := place[p.key]; twice {
			pairs[i] = p
		} else {
			place[p.key] = len(pairs)
			pairs = append(pairs, p)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out = append(out, '{')
	begin := len(out)
	for _, p := range pairs {
		before := len(out)
		if before > begin {
			out = append(out, ',')
		}
		out = append(appendString(out, p.key), ':')
		bare := len(out)
		if out, err = appendValue(out, join(p.pieces), depth+1); err != nil {
			return nil, err
		}
		if len(out) == bare {
			out = out[:before]
		}
	}
	return append(out, '}'), nil
}

func appendList(out, raw []byte, depth int) ([]byte, error) {
	out = append(out, '[')
	begin := len(out)
	err := fieldsOf(raw, func(n protowire.Number, t protowire.Type, value []byte) (err error) {
		if n != 1 || t != protowire.BytesType {
			return nil
		}
		if len(out) > begin {
			out = append(out, ',')
		}
		bare := len(out)
		out, err = appendValue(out, value, depth+1)
		if err == nil && len(out) == bare {
			out = append(out, "null"...) // the others keep their places
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return append(out, ']'), nil
}

func validText(raw []byte) string { return string(bytes.ToValidUTF8(raw, []byte("\uFFFD"))) }

// encodeValue is the reverse of appendValue, for tidy JSON.
func encodeValue(raw json.RawMessage, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("agui: nested deeper than %d", maxDepth)
	}
	switch kindOf(raw) {
	case nullKind:
		return protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 0), nil
	case numberKind:
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil {
			return nil, fmt.Errorf("agui: number beyond a double")
		}
		return protowire.AppendFixed64(protowire.AppendTag(nil, 2, protowire.Fixed64Type), math.Float64bits(f)), nil
	case stringKind:
		return appendBytes(nil, 3, []byte(textOf(raw))), nil
	case boolKind:
		return protowire.AppendVarint(protowire.AppendTag(nil, 4, protowire.VarintType), protowire.EncodeBool(raw[0] == 't')), nil
	case objectKind:
		fields, err := encodeStruct(raw, depth)
		return appendBytes(nil, 5, fields), err
	case arrayKind:
		var list []byte
		for _, each := range elementsOf(raw) {
			value, err := encodeValue(each, depth+1)
			if err != nil {
				return nil, err
			}
			list = appendBytes(list, 1, value)
		}
		return appendBytes(nil, 6, list), nil
	}
	return nil, errors.New("agui: not a JSON value")
}

func encodeStruct(raw json.RawMessage, depth int) ([]byte, error) {
	out := []byte{}
	for _, m := range membersOf(raw) {
		value, err := encodeValue(m.value, depth+1)
		if err != nil {
			return nil, err
		}
		out = appendBytes(out, 1, appendBytes(appendBytes(nil, 1, []byte(m.key)), 2, value))
	}
	return out, nil
}

func appendBytes(out []byte, n protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(out, n, protowire.BytesType), value)
}
