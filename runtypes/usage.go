package runtypes

// Usage is the token count of one model call, in tokens. Input and Output are
// totals that include every detail: Anthropic reports cached tokens beside the
// input and OpenAI within it, so a caller adds where its provider does not.
type Usage struct {
	Input  int64
	Output int64

	CacheRead     int64 // input read from a prompt cache
	CacheCreation int64 // input written to a prompt cache, where the lifetime is not known
	Ephemeral5m   int64 // input written to a five-minute cache
	Ephemeral1h   int64 // input written to a one-hour cache
	Reasoning     int64 // output spent on reasoning

	InputDetails  map[string]int64 // further input details LangSmith prices: audio, image, priority_cache_read
	OutputDetails map[string]int64
	TotalCost     float64 // US dollars, only where the agent itself knows the price
}

// metadata is the usage_metadata object of the wire.
func (u *Usage) metadata() map[string]any {
	in, out := map[string]any{}, map[string]any{}
	put := func(m map[string]any, key string, n int64) {
		if n > 0 {
			m[key] = n
		}
	}
	for key, n := range u.InputDetails {
		put(in, key, n)
	}
	for key, n := range u.OutputDetails {
		put(out, key, n)
	}
	put(in, "cache_read", u.CacheRead)
	put(in, "ephemeral_5m_input_tokens", u.Ephemeral5m)
	put(in, "ephemeral_1h_input_tokens", u.Ephemeral1h)
	if u.Ephemeral5m == 0 && u.Ephemeral1h == 0 { // the split or the sum, never both: they would be priced twice
		put(in, "cache_creation", u.CacheCreation)
	}
	put(out, "reasoning", u.Reasoning)

	m := map[string]any{
		"input_tokens":  u.Input,
		"output_tokens": u.Output,
		"total_tokens":  u.Input + u.Output,
	}
	if len(in) > 0 {
		m["input_token_details"] = in
	}
	if len(out) > 0 {
		m["output_token_details"] = out
	}
	if u.TotalCost > 0 {
		m["total_cost"] = u.TotalCost
	}
	return m
}
