package anthropic

import "github.com/tracesmith/tracesmith/runtypes"

// usage counts tokens as the API does: input_tokens is what no cache held. The
// counts of a stream's end are totals, and may leave out what its start said.
type usage struct {
	Input         *int64 `json:"input_tokens"`
	Output        *int64 `json:"output_tokens"`
	CacheRead     *int64 `json:"cache_read_input_tokens"`
	CacheCreation *int64 `json:"cache_creation_input_tokens"`
	Lifetimes     *struct {
		FiveMinutes int64 `json:"ephemeral_5m_input_tokens"`
		OneHour     int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Details *struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// merge returns the later counts where there are any, else the earlier.
func (u *usage) merge(later *usage) *usage {
	if u == nil || later == nil {
		if u == nil {
			return later
		}
		return u
	}
	all := *u
	for to, from := range map[**int64]*int64{
		&all.Input: later.Input, &all.Output: later.Output,
		&all.CacheRead: later.CacheRead, &all.CacheCreation: later.CacheCreation,
	} {
		if from != nil {
			*to = from
		}
	}
	if later.Lifetimes != nil {
		all.Lifetimes = later.Lifetimes
	}
	if later.Details != nil {
		all.Details = later.Details
	}
	return &all
}

// tokens counts as LangSmith does: the totals include every detail.
func (u *usage) tokens() *runtypes.Usage {
	if u == nil {
		return nil
	}
	count := func(n *int64) int64 {
		if n == nil || *n < 0 {
			return 0
		}
		return *n
	}
	t := &runtypes.Usage{Output: count(u.Output), CacheRead: count(u.CacheRead), CacheCreation: count(u.CacheCreation)}
	t.Input = count(u.Input) + t.CacheRead + t.CacheCreation
	if l := u.Lifetimes; l != nil && l.FiveMinutes+l.OneHour == t.CacheCreation {
		t.Ephemeral5m, t.Ephemeral1h = l.FiveMinutes, l.OneHour
	}
	if u.Details != nil {
		t.Reasoning = min(max(u.Details.Thinking, 0), t.Output)
	}
	return t
}
