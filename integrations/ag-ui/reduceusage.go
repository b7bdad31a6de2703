package agui

import (
	"encoding/json"

	"github.com/tracesmith/tracesmith/runtypes"
)

// The names that producers give to counts of tokens, by what is counted. A dot leads
// into an object.
var (
	inputNames     = [][]string{{"inputTokens"}, {"input_tokens"}, {"prompt_tokens"}, {"input"}}
	outputNames    = [][]string{{"outputTokens"}, {"output_tokens"}, {"completion_tokens"}, {"output"}}
	totalNames     = [][]string{{"totalTokens"}, {"total_tokens"}, {"total"}}
	reasoningNames = [][]string{{"reasoningTokens"}, {"output_token_details", "reasoning"}, {"completion_tokens_details", "reasoning_tokens"}}
	cacheReadNames = [][]string{{"cachedInputTokens"}, {"input_token_details", "cache_read"}, {"prompt_tokens_details", "cached_tokens"}}
	cacheWriteName = [][]string{{"cacheWriteInputTokens"}, {"input_token_details", "cache_creation"}}
)

// usageOf reads the usage that an item's metadata tells: under the protocol's own key
// first, else under the plain one. It is nil where input or output is not known, since
// an absent count is not zero.
func usageOf(md Metadata) *runtypes.Usage {
	reserved, _ := md.Get(ReservedKey)
	plain, _ := md.Get("usage")
	for _, raw := range []json.RawMessage{lookUp(reserved, "usage"), plain} {
		if u := readUsage(raw); u != nil {
			return u
		}
	}
	return nil
}

// readUsage reads one usage object in any of the shapes that are known.
func readUsage(raw json.RawMessage) *runtypes.Usage {
	if kindOf(raw) != objectKind {
		return nil
	}
	in, out, total := countOf(raw, inputNames), countOf(raw, outputNames), countOf(raw, totalNames)
	switch {
	case in < 0 && out >= 0 && total >= out:
		in = total - out
	case out < 0 && in >= 0 && total >= in:
		out = total - in
	}
	if in < 0 || out < 0 {
		return nil
	}
	u := &runtypes.Usage{Input: in, Output: out}
	u.Reasoning = within(out, countOf(raw, reasoningNames))
	u.CacheRead = within(in, countOf(raw, cacheReadNames))
	u.CacheCreation = within(in-u.CacheRead, countOf(raw, cacheWriteName))
	return u
}

// within returns a part that is known and no more than its whole, else zero.
func within(whole, part int64) int64 {
	if part < 0 || part > whole {
		return 0
	}
	return part
}

// countOf returns the first count that stands under one of the names; -1: none does. What
// is beyond the protocol's integers is no count.
func countOf(raw json.RawMessage, names [][]string) int64 {
	for _, path := range names {
		if n, ok := integer(lookUp(raw, path...)); ok && n >= 0 && n <= maxSafe {
			return n
		}
	}
	return -1
}

// lookUp follows keys into tidy objects; nil where there is nothing.
func lookUp(raw json.RawMessage, path ...string) json.RawMessage {
	for _, key := range path {
		if kindOf(raw) != objectKind {
			return nil
		}
		var found json.RawMessage
		for _, m := range membersOf(raw) {
			if m.key == key {
				found = m.value
			}
		}
		raw = found
	}
	return raw
}

// modelOf reads which model an item's metadata names.
func modelOf(md Metadata) (name, provider string) {
	return textUnder(md, "model", "modelName", "ls_model_name"), textUnder(md, "provider", "ls_provider")
}

// textUnder returns the first text that stands under one of the keys.
func textUnder(md Metadata, keys ...string) string {
	for _, key := range keys {
		if raw, _ := md.Get(key); kindOf(raw) == stringKind {
			if s := textOf(raw); s != "" {
				return s
			}
		}
	}
	return ""
}

// runUsage is the usage that the end of a run tells, as it goes under ag_ui.usage: the
// typed list, else what its metadata says. nil: none.
func runUsage(e *Event) json.RawMessage {
	if len(e.Usage) > 0 {
		raw, err := json.Marshal(e.Usage)
		if err == nil {
			return raw
		}
	}
	reserved, _ := e.Metadata.Get(ReservedKey)
	if raw := lookUp(reserved, "usage"); kindOf(raw) == objectKind {
		return raw
	}
	if raw, _ := e.Metadata.Get("usage"); kindOf(raw) == objectKind {
		return raw
	}
	return nil
}

// soleUsage is the usage of a run's only model call, from the run's end: of several
// entries nobody can tell whose they are.
func soleUsage(e *Event) *runtypes.Usage {
	raw := runUsage(e)
	if kindOf(raw) == arrayKind {
		all := elementsOf(raw)
		if len(all) != 1 {
			return nil
		}
		raw = all[0]
	}
	return readUsage(raw)
}
