package exporter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tracesmith/tracesmith/runtypes"
)

// shortest is the length in bytes that no text is cut below: identifiers in the
// metadata stay whole.
const shortest = 512

// markerRoom is what a text may be over the limit before it is cut, so that a
// marker is never cut itself.
const markerRoom = 64

// replaceable fields may be replaced by a marker as a whole; extra must not,
// since it says what the run is.
func replaceable(name string) bool { return name == "inputs" || name == "outputs" || name == "events" }

// shorten brings the record's size down to target by cutting the texts in its
// largest fields, longest texts first, then by leaving out attachments, and as a
// last resort by replacing a field.
// It reports whether the record got any smaller.
func (r *record) shorten(target int) bool {
	before := r.size()
	for limit := 256 << 10; limit >= shortest && r.size() > target; limit /= 8 {
		r.cutFields(target, limit)
	}
	if r.size() > target {
		r.cutHead()
	}
	for r.size() > target && len(r.files) > 0 {
		r.detach()
	}
	for r.size() > target {
		f := r.largest(replaceable)
		if f == nil || len(f.raw) <= shortest {
			break
		}
		f.raw = replacement(f.name, len(f.raw))
	}
	if over := r.size() - target; over > 0 {
		r.thin(over)
	}
	return r.size() < before
}

// mostTags is how many tags a run that is too large keeps.
const mostTags = 32

// cutHead cuts a run's name and its tags, the texts that are no field.
func (r *record) cutHead() {
	w, err := r.head()
	if err != nil {
		return
	}
	w.Name = cut(w.Name, shortest)
	w.Tags = w.Tags[:min(len(w.Tags), mostTags)]
	for i := range w.Tags {
		w.Tags[i] = cut(w.Tags[i], shortest)
	}
	if head := w.AppendHead(nil); len(head) < len(r.main) {
		r.main = head
	}
}

// thin leaves out the largest members of the metadata until so many bytes are
// saved, and says which: what identifies the run is small.
func (r *record) thin(over int) {
	extra := r.largest(func(name string) bool { return name == "extra" })
	var members, meta map[string]json.RawMessage
	if extra == nil || json.Unmarshal(extra.raw, &members) != nil || json.Unmarshal(members["metadata"], &meta) != nil {
		return
	}
	bySize := slices.SortedFunc(maps.Keys(meta), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b)+len(meta[b]), len(a)+len(meta[a])), cmp.Compare(a, b))
	})
	gone := 0
	for ; gone < len(bySize) && over > 0 && len(meta[bySize[gone]]) > markerRoom; gone++ {
		over -= len(bySize[gone]) + len(meta[bySize[gone]])
		delete(meta, bySize[gone])
	}
	if over > 0 { // many small ones: of these only what is the contract's stays
		gone += len(meta)
		maps.DeleteFunc(meta, func(key string, _ json.RawMessage) bool { return !identifies(key) })
		gone -= len(meta)
	}
	if gone == 0 {
		return
	}
	meta["tracesmith_shortened"] = fmt.Appendf(nil, `"%d members of the metadata left out: too large for the server"`, gone)
	var err error
	if members["metadata"], err = runtypes.Marshal(meta); err != nil {
		return
	}
	if raw, err := runtypes.Marshal(members); err == nil && len(raw) < len(extra.raw) {
		extra.raw = raw
	}
}

// identifies reports whether a member of the metadata says what a run is.
func identifies(key string) bool {
	switch key {
	case "thread_id", "turn_id", "turn_number", "usage_metadata", "working_directory", "cwd":
		return true
	}
	return strings.HasPrefix(key, "ls_") || strings.HasPrefix(key, "git_") || strings.HasPrefix(key, "repository_")
}

// detach leaves out the largest attachment.
func (r *record) detach() {
	at := 0
	for i := range r.files {
		if len(r.files[i].data) > len(r.files[at].data) {
			at = i
		}
	}
	r.files = slices.Delete(r.files, at, at+1)
}

// cutFields cuts every text over limit, largest field first, until it fits.
func (r *record) cutFields(target, limit int) {
	done := map[string]bool{}
	for r.size() > target {
		f := r.largest(func(name string) bool { return !done[name] })
		if f == nil {
			return
		}
		done[f.name] = true
		if len(f.raw) > limit {
			f.raw = cutStrings(f.raw, limit)
		}
	}
}

// largest is the largest of the fields that may be touched.
func (r *record) largest(may func(name string) bool) *field {
	var found *field
	for i := range r.fields {
		f := &r.fields[i]
		if may(f.name) && (found == nil || len(f.raw) > len(found.raw)) {
			found = f
		}
	}
	return found
}

// replacement stands where a field was.
func replacement(name string, size int) []byte {
	if name == "events" {
		return []byte("[]") // an element would need a time of its own
	}
	return fmt.Appendf(nil, `{"tracesmith_shortened":"%s of %d bytes left out: too large for the server"}`, name, size)
}

// cutStrings copies valid JSON with every string literal that is longer than
// limit bytes cut to it, a marker saying what is missing. It works on the
// literals as they stand, so that order and numbers stay as they were.
func cutStrings(raw []byte, limit int) []byte {
	out := make([]byte, 0, min(len(raw), len(raw)/2+limit))
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			out = append(out, raw[i])
			i++
			continue
		}
		end := literalEnd(raw, i)
		text := raw[i+1 : end-1]
		out = append(out, '"')
		if len(text) > limit+markerRoom {
			kept := text[:boundary(text, limit)]
			out = append(out, kept...)
			out = fmt.Appendf(out, " … [%d bytes left out]", len(text)-len(kept))
		} else {
			out = append(out, text...)
		}
		out = append(out, '"')
		i = end
	}
	return out
}

// literalEnd is the offset behind the string literal that starts at i.
func literalEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// boundary is the last offset up to limit that splits neither an escape, a
// surrogate pair nor a character of the literal's text.
func boundary(text []byte, limit int) int {
	at := 0
	for at < limit {
		next := at + unit(text[at:])
		if next > limit {
			break
		}
		at = next
	}
	return at
}

// unit is the length of the text's first character or escape. Two \u escapes in a
// row count as one when the first is half of a pair.
func unit(text []byte) int {
	switch {
	case text[0] != '\\':
		_, n := utf8.DecodeRune(text)
		return n
	case len(text) < 6 || text[1] != 'u':
		return 2
	case (text[2] == 'd' || text[2] == 'D') && len(text) >= 12 && text[6] == '\\' && text[7] == 'u':
		return 12
	default:
		return 6
	}
}
