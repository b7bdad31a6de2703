package openai

import "github.com/tracesmith/tracesmith/runtypes"

// usage counts tokens in the words of both APIs. The totals include every detail.
type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`

	PromptDetails     details `json:"prompt_tokens_details"`
	CompletionDetails details `json:"completion_tokens_details"`
	InputDetails      details `json:"input_tokens_details"`
	OutputDetails     details `json:"output_tokens_details"`
}

type details struct {
	Cached    int64 `json:"cached_tokens"`
	Written   int64 `json:"cache_write_tokens"`
	Reasoning int64 `json:"reasoning_tokens"`
	Audio     int64 `json:"audio_tokens"`
}

// tokens counts as LangSmith does. Two service tiers have prices of their own:
// their counts go under the tier's name.
func (u *usage) tokens(tier string) *runtypes.Usage {
	if u == nil {
		return nil
	}
	in, out := u.InputDetails, u.OutputDetails
	in.add(u.PromptDetails)
	out.add(u.CompletionDetails)
	t := &runtypes.Usage{Input: max(u.Prompt+u.Input, 0), Output: max(u.Completion+u.Output, 0)}
	t.InputDetails, t.OutputDetails = map[string]int64{}, map[string]int64{}
	put := func(m map[string]int64, key string, n int64) {
		if n > 0 {
			m[key] = n
		}
	}
	put(t.InputDetails, "audio", in.Audio)
	put(t.OutputDetails, "audio", out.Audio)
	t.CacheCreation = max(in.Written, 0)
	if tier != "priority" && tier != "flex" {
		t.CacheRead, t.Reasoning = max(in.Cached, 0), max(out.Reasoning, 0)
		return t
	}
	put(t.InputDetails, tier+"_cache_read", in.Cached)
	put(t.InputDetails, tier, t.Input-max(in.Cached, 0)-max(in.Audio, 0)-t.CacheCreation)
	put(t.OutputDetails, tier+"_reasoning", out.Reasoning)
	put(t.OutputDetails, tier, t.Output-max(out.Reasoning, 0)-max(out.Audio, 0))
	return t
}

func (d *details) add(o details) {
	d.Cached += o.Cached
	d.Written += o.Written
	d.Reasoning += o.Reasoning
	d.Audio += o.Audio
}
