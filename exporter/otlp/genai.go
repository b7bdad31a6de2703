package otlp

import (
	"cmp"
	"encoding/json"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/tracesmith/tracesmith/runtypes"
)

// operation is what the GenAI conventions call a kind of run, whom or what it is done
// with, and the span's kind.
func operation(kind runtypes.Kind, meta map[string]any) (name, with string, as trace.SpanKind) {
	switch kind {
	case runtypes.KindLLM:
		return "chat", word(meta, "ls_model_name"), trace.SpanKindClient
	case runtypes.KindTool:
		return "execute_tool", word(meta, "ls_tool_name"), trace.SpanKindInternal
	case runtypes.KindSubagent:
		return "invoke_agent", word(meta, "ls_subagent_type"), trace.SpanKindInternal
	case runtypes.KindRoot, runtypes.KindInterrupted:
		return "invoke_agent", agentName(meta), trace.SpanKindInternal
	}
	return "", "", trace.SpanKindInternal
}

// agentName is the runtime's name without its version.
func agentName(meta map[string]any) string {
	name := word(meta, "ls_agent_runtime")
	if version := word(meta, "ls_agent_version"); version != "" {
		name = strings.TrimSuffix(name, " "+version)
	}
	return name
}

// genAI adds what the GenAI conventions say of a run.
func (a *attributes) genAI(kind runtypes.Kind, w *runtypes.Wire, meta map[string]any) {
	name, with, _ := operation(kind, meta)
	a.text("gen_ai.operation.name", name)
	a.text("gen_ai.conversation.id", word(meta, "thread_id"))
	switch kind {
	case runtypes.KindLLM:
		a.model(meta)
	case runtypes.KindTool:
		a.text("gen_ai.tool.name", with)
		a.text("gen_ai.tool.call.id", word(meta, "tool_call_id"))
	case runtypes.KindSubagent:
		a.text("gen_ai.agent.name", with)
		a.text("gen_ai.agent.id", word(meta, "ls_subagent_id"))
	case runtypes.KindRoot, runtypes.KindInterrupted:
		a.text("gen_ai.agent.name", with)
		a.text("gen_ai.agent.version", word(meta, "ls_agent_version"))
	}
	a.text("gen_ai.prompt", string(w.Inputs))
	a.text("gen_ai.completion", string(w.Outputs))
}

// providers are LangSmith's and the agents' names of providers that the GenAI conventions
// call otherwise.
var providers = map[string]string{
	"amazon_bedrock": "aws.bedrock", "azure": "azure.ai.openai", "google": "gcp.gemini", "google_genai": "gcp.gemini",
	"google_vertexai": "gcp.vertex_ai", "google_vertex": "gcp.vertex_ai", "google_anthropic_vertex": "gcp.vertex_ai",
	"ibm": "ibm.watsonx.ai", "mistral": "mistral_ai", "mistralai": "mistral_ai", "xai": "x_ai",
}

// model adds what is known of a model call. The provider has two names: gen_ai.system is
// the older one, which LangSmith reads.
func (a *attributes) model(meta map[string]any) {
	provider := word(meta, "ls_provider")
	a.text("gen_ai.provider.name", cmp.Or(providers[strings.ReplaceAll(provider, "-", "_")], provider))
	a.text("gen_ai.system", provider)
	a.text("gen_ai.request.model", word(meta, "ls_model_name"))
	a.text("gen_ai.response.id", word(meta, "response_id"))
	a.text("gen_ai.response.model", word(meta, "response_model"))
	if reason := word(meta, "stop_reason"); reason != "" {
		*a = append(*a, attribute.StringSlice("gen_ai.response.finish_reasons", []string{strings.ToValidUTF8(reason, "\uFFFD")}))
	}
	params, _ := meta["ls_invocation_params"].(map[string]any)
	for _, key := range []string{"temperature", "top_p", "top_k", "max_tokens", "frequency_penalty", "presence_penalty", "seed"} {
		if n, ok := params[key].(json.Number); ok {
			a.number("gen_ai.request."+key, n)
		}
	}
	usage, _ := meta[keyUsage].(map[string]any)
	details, _ := usage["input_token_details"].(map[string]any)
	for _, count := range []struct {
		key string
		of  any
	}{
		{"input_tokens", usage["input_tokens"]}, {"output_tokens", usage["output_tokens"]},
		{"cache_read.input_tokens", details["cache_read"]}, {"cache_creation.input_tokens", written(details)},
	} {
		if n, ok := count.of.(json.Number); ok {
			a.number("gen_ai.usage."+count.key, n)
		}
	}
}

// written is what went into a prompt cache, of whatever lifetime; nil: nothing.
func written(details map[string]any) any {
	var sum int64
	for _, key := range []string{"cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"} {
		n, _ := details[key].(json.Number)
		count, _ := n.Int64() // absent is nothing
		sum += count
	}
	if sum == 0 {
		return nil
	}
	raw, _ := json.Marshal(sum) // a number has no way to fail
	return json.Number(raw)
}

func word(meta map[string]any, key string) string {
	text, _ := meta[key].(string)
	return text
}
