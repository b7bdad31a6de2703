package agui

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

var errPatch = errors.New("agui: the patch does not fit")

// maxPatching bounds what a patch may go through, in bytes, all its operations taken
// together: a few copies of a document into itself would be more than memory holds.
const maxPatching = 16 * MaxFrame

// applyPatch returns a document changed by RFC 6902 operations, or an error and nothing
// changed. Values keep their bytes.
func applyPatch(document, operations json.RawMessage) (json.RawMessage, error) {
	if kindOf(operations) != arrayKind {
		return nil, errPatch
	}
	through := 0
	for _, each := range elementsOf(operations) {
		var err error
		if document, err = applyOperation(document, recordOf(each)); err != nil {
			return nil, err
		}
		if through += len(document); through > maxPatching || len(document) > MaxFrame {
			return nil, errPatch
		}
	}
	return document, nil
}

func applyOperation(document json.RawMessage, op record) (json.RawMessage, error) {
	path, err := pointer(op.get("path"))
	if err != nil {
		return nil, err
	}
	value := op.get("value")
	switch name := textOf(op.get("op")); name {
	case "add", "replace":
		if value == nil {
			return nil, errPatch
		}
		return edit(document, path, name, value)
	case "remove":
		return edit(document, path, name, nil)
	case "move", "copy":
		from, err := pointer(op.get("from"))
		if err != nil {
			return nil, err
		}
		if value, err = follow(document, from); err != nil {
			return nil, err
		}
		if name == "move" {
			if document, err = edit(document, from, "remove", nil); err != nil {
				return nil, err
			}
		}
		return edit(document, path, "add", value)
	case "test":
		found, err := follow(document, path)
		if err != nil || !equal(found, value) {
			return nil, errPatch
		}
		return document, nil
	}
	return nil, errPatch
}

// pointer splits a JSON pointer.
func pointer(raw json.RawMessage) ([]string, error) {
	text := textOf(raw)
	if kindOf(raw) != stringKind || text != "" && text[0] != '/' {
		return nil, errPatch
	}
	if text == "" {
		return nil, nil
	}
	parts := strings.Split(text[1:], "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
	}
	return parts, nil
}

func follow(document json.RawMessage, path []string) (json.RawMessage, error) {
	for _, key := range path {
		switch kindOf(document) {
		case objectKind:
			document = recordOf(document).get(key)
		case arrayKind:
			all := elementsOf(document)
			i, err := position(key, len(all)-1)
			if err != nil {
				return nil, err
			}
			document = all[i]
		default:
			return nil, errPatch
		}
		if document == nil {
			return nil, errPatch
		}
	}
	return document, nil
}

// edit adds, replaces or removes what a path leads to.
func edit(document json.RawMessage, path []string, op string, value json.RawMessage) (json.RawMessage, error) {
	if len(path) == 0 {
		if op == "remove" {
			return json.RawMessage("null"), nil
		}
		return value, nil
	}
	switch key := path[0]; kindOf(document) {
	case objectKind:
		return editObject(recordOf(document), key, path[1:], op, value)
	case arrayKind:
		return editArray(elementsOf(document), key, path[1:], op, value)
	}
	return nil, errPatch
}

func editObject(r record, key string, rest []string, op string, value json.RawMessage) (json.RawMessage, error) {
	i := slices.IndexFunc(r, func(e entry) bool { return e.name == key })
	switch {
	case len(rest) > 0 && i >= 0:
		inner, err := edit(r[i].value, rest, op, value)
		if err != nil {
			return nil, err
		}
		r[i].value = inner
	case len(rest) > 0, i < 0 && op != "add":
		return nil, errPatch
	case op == "remove":
		r = slices.Delete(r, i, i+1)
	case i < 0:
		r = append(r, entry{key, value})
	default:
		r[i].value = value
	}
	return r.json(), nil
}

func editArray(all []json.RawMessage, key string, rest []string, op string, value json.RawMessage) (json.RawMessage, error) {
	last := len(all) - 1
	if op == "add" && len(rest) == 0 {
		last++
		if key == "-" {
			key = strconv.Itoa(last)
		}
	}
	i, err := position(key, last)
	if err != nil {
		return nil, err
	}
	switch {
	case len(rest) > 0:
		all[i], err = edit(all[i], rest, op, value)
	case op == "add":
		all = slices.Insert(all, i, value)
	case op == "remove":
		all = slices.Delete(all, i, i+1)
	default:
		all[i] = value
	}
	if err != nil {
		return nil, err
	}
	out := json.RawMessage{'['}
	for i, each := range all {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, each...)
	}
	return append(out, ']'), nil
}

// position reads an array's index, which has no leading zeros.
func position(key string, last int) (int, error) {
	i, err := strconv.Atoi(key)
	if err != nil || i < 0 || i > last || strconv.Itoa(i) != key {
		return 0, errPatch
	}
	return i, nil
}

func equal(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
