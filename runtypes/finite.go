package runtypes

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// finite rebuilds values with every NaN and infinity as a string. It is only needed
// where the plain encoder refused one.
type finite struct {
	above   []holder // those of what is looked at
	endless bool     // one of them holds itself: there is no JSON of it
}

// holder is a pointer, map or slice. A struct and its first field are at one place.
type holder struct {
	kind reflect.Type
	at   uintptr
	len  int
}

// deepestFinite is how far values may hold each other.
const deepestFinite = 1000

func (f *finite) value(v reflect.Value) any {
	if !v.IsValid() || f.endless {
		return nil
	}
	if speaks(v) {
		return v.Interface()
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		n := v.Float()
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return strconv.FormatFloat(n, 'g', -1, 64)
		}
		return n
	case reflect.Interface:
		return f.value(v.Elem())
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return nil
		}
		if !f.enter(v) {
			return nil
		}
		defer f.leave()
	}
	switch v.Kind() {
	case reflect.Pointer:
		return f.value(v.Elem())
	case reflect.Map:
		m := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			m[fmt.Sprint(it.Key().Interface())] = f.value(it.Value())
		}
		return m
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Interface()
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = f.value(v.Index(i))
		}
		return list
	case reflect.Struct:
		return f.members(v)
	default:
		return v.Interface()
	}
}

// speaks reports whether a value writes itself.
func speaks(v reflect.Value) bool {
	if v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer && v.IsNil() {
		return false
	}
	switch v.Interface().(type) {
	case json.Marshaler, encoding.TextMarshaler:
		return true
	}
	return false
}

// enter goes into what may hold itself, and is false if it does.
func (f *finite) enter(v reflect.Value) bool {
	here := holder{kind: v.Type(), at: v.Pointer()}
	if v.Kind() == reflect.Slice {
		here.len = v.Len()
	}
	f.endless = len(f.above) == deepestFinite || slices.Contains(f.above, here)
	f.above = append(f.above, here)
	return !f.endless
}

func (f *finite) leave() { f.above = f.above[:len(f.above)-1] }

func (f *finite) members(v reflect.Value) map[string]any {
	m := map[string]any{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, opts, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" || (strings.Contains(opts, "omitempty") && v.Field(i).IsZero()) {
			continue
		}
		if name == "" {
			name = field.Name
		}
		m[name] = f.value(v.Field(i))
	}
	return m
}
