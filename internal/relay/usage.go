package relay

import (
	"encoding/json"

	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// nativeUsage is usage_metadata as LangChain writes it.
type nativeUsage struct {
	Input   int64            `json:"input_tokens"`
	Output  int64            `json:"output_tokens"`
	Inputs  map[string]int64 `json:"input_token_details"`
	Outputs map[string]int64 `json:"output_token_details"`
}

// usageOf finds what a model call cost: in its metadata, beside its outputs, or in the
// messages it answered with.
func usageOf(w *write) *runtypes.Usage {
	u, _ := findUsage(w.wire)
	return u
}

// findUsage is usageOf with the member that says it.
func findUsage(w runtypes.Wire) (*runtypes.Usage, json.RawMessage) {
	var list []json.RawMessage
	if raw, err := json.Marshal(w.Metadata()["usage_metadata"]); err == nil {
		list = append(list, raw)
	}
	var out struct {
		Usage       json.RawMessage `json:"usage_metadata"`
		Generations [][]struct {
			Message struct {
				Usage  json.RawMessage `json:"usage_metadata"`
				Kwargs struct {
					Usage json.RawMessage `json:"usage_metadata"`
				} `json:"kwargs"`
			} `json:"message"`
		} `json:"generations"`
	}
	if len(w.Outputs) > 0 && agentkit.Decode(w.Outputs, &out) == nil {
		list = append(list, out.Usage)
		for _, each := range out.Generations {
			for _, g := range each {
				list = append(list, g.Message.Kwargs.Usage, g.Message.Usage)
			}
		}
	}
	for _, raw := range list {
		if u := usage(raw); u != nil {
			return u, raw
		}
	}
	return nil, nil
}

func usage(raw json.RawMessage) *runtypes.Usage {
	var n *nativeUsage
	if len(raw) == 0 || agentkit.Decode(raw, &n) != nil || n == nil || n.Input < 0 || n.Output < 0 || n.Input+n.Output == 0 {
		return nil
	}
	u := &runtypes.Usage{Input: n.Input, Output: n.Output}
	for key, count := range within(n.Inputs, n.Input) {
		switch key {
		case "cache_read":
			u.CacheRead = count
		case "cache_creation":
			u.CacheCreation = count
		case "ephemeral_5m_input_tokens":
			u.Ephemeral5m = count
		case "ephemeral_1h_input_tokens":
			u.Ephemeral1h = count
		default:
			u.InputDetails = put(u.InputDetails, key, count)
		}
	}
	for key, count := range within(n.Outputs, n.Output) {
		if key == "reasoning" {
			u.Reasoning = count
			continue
		}
		u.OutputDetails = put(u.OutputDetails, key, count)
	}
	return u
}

// within returns details that are part of their sum; others would be priced twice.
func within(details map[string]int64, sum int64) map[string]int64 {
	var total int64
	for _, n := range details {
		if n < 0 {
			return nil
		}
		total += n
	}
	if total > sum {
		return nil
	}
	return details
}

func put(m map[string]int64, key string, n int64) map[string]int64 {
	if m == nil {
		m = map[string]int64{}
	}
	m[key] = n
	return m
}

// awaiting reports whether a native root's outputs end in tool calls that nobody has
// answered: the graph stopped to ask, and a further root goes on when it was told.
func awaiting(outputs json.RawMessage) bool {
	var out struct {
		Interrupt []json.RawMessage `json:"__interrupt__"`
		Messages  []struct {
			Type      string            `json:"type"`
			ToolCalls []json.RawMessage `json:"tool_calls"`
			Kwargs    struct {
				ToolCalls []json.RawMessage `json:"tool_calls"`
			} `json:"kwargs"`
		} `json:"messages"`
	}
	if len(outputs) == 0 || agentkit.Decode(outputs, &out) != nil {
		return false
	}
	if len(out.Interrupt) > 0 {
		return true
	}
	if len(out.Messages) == 0 {
		return false
	}
	last := out.Messages[len(out.Messages)-1]
	return len(last.ToolCalls) > 0 || len(last.Kwargs.ToolCalls) > 0
}
