package cursor

import (
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/runtypes"
)

// efforts are the words that Cursor puts behind a model's name for how it is asked, and
// the parameter they stand for.
var efforts = map[string]string{
	"minimal": "effort", "low": "effort", "medium": "effort", "high": "effort", "xhigh": "effort",
	"thinking": "thinking", "fast": "speed",
}

// whole are names in which such a word is the model's own.
var whole = []string{"grok-4-fast", "grok-4.1-fast", "gpt-5.1-codex-max"}

// modelOf reads a model off Cursor's label, so that LangSmith knows its price: the
// label is the maker's name for it with the way it is asked behind, and Claude's are
// told the other way round.
func modelOf(label, id string, params []param) runtypes.Model {
	if id != "" {
		label = id
	}
	name, ask := splitLabel(strings.ToLower(strings.TrimSpace(label)))
	m := runtypes.Model{Name: name, Provider: providerOf(name)}
	for _, p := range params {
		if p.ID != "" && len(ask) < 16 {
			ask[p.ID] = p.Value
		}
	}
	if m.Name != "" && label != m.Name {
		ask["model"] = label
	}
	if len(ask) > 0 {
		m.InvocationParams = ask
	}
	return m
}

func splitLabel(label string) (name string, ask map[string]any) {
	ask = map[string]any{}
	words := strings.Split(label, "-")
	for n := len(words); n > 1; n-- {
		last := words[n-1]
		key := efforts[last]
		if key == "" || slices.Contains(whole, strings.Join(words[:n], "-")) || key == "speed" && words[0] == "composer" {
			break
		}
		switch key {
		case "thinking":
			ask[key] = true
		default:
			ask[key] = last
		}
		words = words[:n-1]
	}
	if len(words) > 2 && words[0] == "claude" && startsWithDigit(words[1]) && words[1][0] > '3' { // claude-4.5-sonnet
		words = append([]string{"claude"}, append(words[2:], words[1])...)
	}
	name = strings.Join(words, "-")
	if words[0] == "claude" {
		name = strings.ReplaceAll(name, ".", "-")
	}
	return name, ask
}

func startsWithDigit(word string) bool { return word != "" && word[0] >= '0' && word[0] <= '9' }

// providerOf names who made the model.
func providerOf(model string) string {
	first, _, _ := strings.Cut(model, "-")
	switch {
	case model == "":
		return ""
	case first == "claude":
		return "anthropic"
	case first == "gpt", first == "codex", len(first) > 1 && first[0] == 'o' && startsWithDigit(first[1:]):
		return "openai"
	case first == "gemini":
		return "google_genai"
	case first == "grok":
		return "xai"
	case first == "deepseek":
		return "deepseek"
	}
	return "cursor" // composer, auto, default, and what is to come
}
