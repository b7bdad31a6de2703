package runtypes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Marshal encodes v as LangSmith can take it: no HTML escaping (it triples the
// size of code), no NaN or infinity (they become strings), no invalid UTF-8, and
// integers beyond 64 bits as strings. A panic of a value's own methods is an error,
// whose text does not quote it.
func Marshal(v any) (out json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fmt.Errorf("runtypes: encode %T: panic: %T", v, p)
		}
	}()
	raw, err := encode(v)
	var bad *json.UnsupportedValueError
	if errors.As(err, &bad) {
		var f finite
		if own := f.value(reflect.ValueOf(v)); !f.endless {
			raw, err = encode(own)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("runtypes: encode %T: %w", v, err)
	}
	return Clean(raw)
}

// Clean returns raw as valid JSON that LangSmith accepts. What is clean already
// comes back as it is, without a copy. Lone surrogates and invalid UTF-8 become
// U+FFFD, integers beyond 64 bits and numbers beyond a double become strings; key order,
// other numbers and everything else stay as they are.
func Clean(raw json.RawMessage) (json.RawMessage, error) {
	switch scan(raw) {
	case clean:
		return raw, nil
	case dirty:
		return rewrite(raw)
	}
	return nil, errors.New("runtypes: not valid JSON")
}

func encode(v any) (json.RawMessage, error) {
	buf, ok := buffers.Get().(*bytes.Buffer)
	if !ok {
		buf = new(bytes.Buffer)
	}
	buf.Reset()
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	raw := bytes.Clone(bytes.TrimSuffix(buf.Bytes(), []byte("\n")))
	if buf.Cap() <= pooledBuffer {
		buffers.Put(buf)
	}
	return raw, nil
}

// buffers saves growing a buffer from nothing for each value.
var buffers sync.Pool

const pooledBuffer = 64 << 10 // bytes; a larger one would be kept for little use

// rewrite copies JSON token by token, which keeps the order of keys.
func rewrite(raw []byte) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out bytes.Buffer
	type frame struct {
		object bool
		n      int
	}
	var stack []frame
	separate := func() {
		if len(stack) == 0 {
			return
		}
		top := &stack[len(stack)-1]
		switch {
		case top.object && top.n%2 == 1:
			out.WriteByte(':')
		case top.n > 0:
			out.WriteByte(',')
		}
		top.n++
	}
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("runtypes: rewrite: %w", err)
		}
		if d, ok := tok.(json.Delim); ok {
			if d == '{' || d == '[' {
				separate()
				stack = append(stack, frame{object: d == '{'})
			} else {
				stack = stack[:len(stack)-1]
			}
			out.WriteByte(byte(d))
			continue
		}
		separate()
		if n, ok := tok.(json.Number); ok {
			out.WriteString(number(n))
			continue
		}
		b, err := encode(tok)
		if err != nil {
			return nil, fmt.Errorf("runtypes: rewrite: %w", err)
		}
		out.Write(b)
	}
}

// number keeps a number's digits, and quotes an integer that does not fit 64 bits,
// which LangSmith refuses ("int too big to convert"), and one that no double holds, which
// readers take for infinity or for no JSON.
func number(n json.Number) string {
	s := n.String()
	if strings.ContainsAny(s, ".eE") {
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			return strconv.Quote(s)
		}
		return s
	}
	if _, err := strconv.ParseInt(s, 10, 64); err != nil {
		return strconv.Quote(s)
	}
	return s
}

// object makes sure that inputs and outputs are JSON objects, which LangSmith
// demands: anything else is put under key.
func object(raw json.RawMessage, key string) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	raw, err := Clean(raw)
	if err != nil {
		return nil, err
	}
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	if len(trimmed) > 0 && trimmed[0] == '{' {
		return raw, nil
	}
	if string(trimmed) == "null" {
		return nil, nil
	}
	out := make([]byte, 0, len(raw)+len(key)+5)
	out = append(out, `{"`...)
	out = append(out, key...)
	out = append(out, `":`...)
	out = append(out, raw...)
	return append(out, '}'), nil
}
