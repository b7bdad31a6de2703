package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Bounds of what a turn is known by, in bytes.
const (
	maxTitle     = 200
	maxErrorText = 500
	maxPrompt    = 4 << 10 // of a prompt that is searched
	maxFact      = 200     // of anything else that is searched
	maxTerm      = 64      // of one word
	maxWords     = 8 << 10 // of all
)

// words are the words that a turn is found by: those of its prompt, errors and tags, of
// what its metadata says, and of the names of its models and tools. Each is kept once.
type words struct {
	was  string // as stored: parted by spaces
	all  map[string]bool
	more []string
	size int
}

// learn takes in what a run says. What is known already is not added again.
func (o *words) learn(w runtypes.Wire, meta metadata) {
	top := w.ParentRunID == ""
	if top {
		o.add(short(prompt(w.Inputs), maxPrompt))
		for key, value := range meta.m {
			o.add(fact(key, value))
		}
	} else {
		for _, key := range []string{"ls_model_name", "ls_tool_name", "ls_subagent_type", "ls_skill_name"} {
			o.add(meta.text(key))
		}
		o.add(w.Name)
	}
	for _, tag := range w.Tags {
		o.add(tag)
	}
	o.add(short(w.Error, maxErrorText))
}

// same are the keys whose values are the same on all runs, or no words.
var same = []string{
	"ls_trace_schema_version", "ls_agent_purpose", "ls_agent_type", "ls_integration_version", "ls_agent_runtime_version",
	"usage_metadata", "repository_url", "repository_provider", "cwd", "context_tokens",
}

// fact is a line of metadata.
func fact(key string, value any) string {
	switch value.(type) {
	case string, bool, json.Number:
		if !slices.Contains(same, key) {
			return short(fmt.Sprintf("%s %v", key, value), maxFact)
		}
	}
	return ""
}

func (o *words) add(text string) {
	if o.all == nil {
		o.all, o.size = map[string]bool{}, len(o.was)
		for word := range strings.FieldsSeq(o.was) {
			o.all[word] = true
		}
	}
	for _, word := range terms(text) {
		if o.all[word] || o.size+len(word) >= maxWords {
			continue
		}
		o.all[word] = true
		o.more = append(o.more, word)
		o.size += len(word) + 1
	}
}

// text is all there is, and whether that is more than was stored.
func (o *words) text() (text string, changed bool) {
	if len(o.more) == 0 {
		return o.was, false
	}
	slices.Sort(o.more) // metadata has no order
	return strings.TrimPrefix(o.was+" "+strings.Join(o.more, " "), " "), true
}

// terms parts a text into words in lower case, as they are stored and looked for. A
// name such as parseHeader is found by its second word, too. Scripts that put no space
// between words are parted into characters.
func terms(text string) []string {
	var list []string
	for _, word := range strings.FieldsFunc(strings.Map(unmarked, text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) || r == utf8.RuneError
	}) {
		list = append(list, parted(word)...)
	}
	return list
}

// parted is a word, or what it is made of.
func parted(word string) (list []string) {
	from, last := 0, rune(0)
	take := func(to int) {
		if to > from {
			list = append(list, lower(word[from:to]))
		}
	}
	for i, r := range word {
		switch {
		case unicode.In(r, unspaced...):
			take(i)
			list = append(list, string(r))
			from = i + utf8.RuneLen(r)
		case unicode.IsUpper(r) && unicode.IsLower(last):
			list = append(list, lower(word[i:]))
		}
		last = r
	}
	take(len(word))
	return list
}

// unspaced are scripts without spaces.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer}

// unmarked drops accents that are characters of their own.
func unmarked(r rune) rune {
	if r >= 0x300 && r <= 0x36f {
		return -1
	}
	return r
}

// lower is a word as it is kept.
func lower(word string) string { return short(strings.ToLower(word), maxTerm) }

// prompt is what the user asked, as the inputs of a turn's root hold it; empty where
// that was not captured.
func prompt(inputs json.RawMessage) string {
	var in struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if len(inputs) == 0 || json.Unmarshal(inputs, &in) != nil {
		return ""
	}
	for _, m := range slices.Backward(in.Messages) { // a producer may repeat what went before
		if m.Role == "user" || m.Role == "human" {
			if text := spoken(m.Content); text != "" {
				return text
			}
		}
	}
	return ""
}

// spoken is the text of a message's content.
func spoken(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var lines []string
	for _, part := range parts {
		if part.Text != "" && (part.Type == "text" || part.Type == "input_text") {
			lines = append(lines, part.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// firstLine is the first line of a text that says something.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if cut := short(line, maxTitle); cut != line {
			return cut + "…"
		}
		if line != "" {
			return line
		}
	}
	return ""
}

// short cuts a text to a number of bytes, between characters.
func short(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}
