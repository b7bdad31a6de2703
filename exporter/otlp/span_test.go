package otlp

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// sent is what a server gets of runs, by name.
func sent(t *testing.T, ops ...runtypes.Op) (spans map[string]*tracepb.Span, data *tracepb.TracesData) {
	t.Helper()
	s := &scripted{answers: []func(http.ResponseWriter, int){status(200)}}
	server := httptest.NewServer(s)
	defer server.Close()
	export(t, client(t, config(server.URL, nil)), ops...)
	spans = map[string]*tracepb.Span{}
	for _, span := range spansOf(s.bodies[0]) {
		spans[span.GetName()] = span
	}
	return spans, s.bodies[0]
}

// about is a span's attributes but for LangSmith's.
func about(list []*commonpb.KeyValue) map[string]any {
	m := map[string]any{}
	for _, each := range list {
		if key := each.GetKey(); len(key) > 7 && key[:7] == "gen_ai." || key == "error.type" {
			switch v := each.GetValue().GetValue().(type) {
			case *commonpb.AnyValue_StringValue:
				m[key] = v.StringValue
			case *commonpb.AnyValue_IntValue:
				m[key] = v.IntValue
			case *commonpb.AnyValue_DoubleValue:
				m[key] = v.DoubleValue
			case *commonpb.AnyValue_ArrayValue:
				m[key] = len(v.ArrayValue.GetValues())
			}
		}
	}
	return m
}

func TestASpanSpeaksTheGenAIConventions(t *testing.T) {
	root, llm, tool := turn(1)
	tool.Error, tool.Metadata["tool_error_class"] = "exit status 1", "exit"
	spans, data := sent(t, post(llm), post(tool), post(runtypes.Merge(root, ended(root))))
	for name, want := range map[string]map[string]any{
		"invoke_agent Claude Code": {
			"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "thread", "gen_ai.agent.name": "Claude Code", "gen_ai.agent.version": "1.0.28",
			"gen_ai.prompt": string(root.Inputs), "gen_ai.completion": `{"output":"Three."}`,
		},
		"chat claude-opus-4-5": {
			"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "thread", "gen_ai.provider.name": "anthropic", "gen_ai.system": "anthropic",
			"gen_ai.request.model": "claude-opus-4-5", "gen_ai.request.temperature": 0.5, "gen_ai.request.max_tokens": int64(1024),
			"gen_ai.response.finish_reasons": 1, "gen_ai.usage.input_tokens": int64(100), "gen_ai.usage.output_tokens": int64(20),
			"gen_ai.usage.cache_read.input_tokens": int64(60), "gen_ai.usage.cache_creation.input_tokens": int64(10),
			"gen_ai.prompt": string(llm.Inputs), "gen_ai.completion": string(llm.Outputs),
		},
		"execute_tool bash": {
			"gen_ai.operation.name": "execute_tool", "gen_ai.conversation.id": "thread", "gen_ai.tool.name": "bash", "gen_ai.tool.call.id": "call_1",
			"gen_ai.prompt": `{"command":"ls"}`, "gen_ai.completion": `{"output":"3"}`, "error.type": "exit",
		},
	} {
		if diff := cmp.Diff(want, about(spans[name].GetAttributes())); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	whole, chat, failed := spans["invoke_agent Claude Code"], spans["chat claude-opus-4-5"], spans["execute_tool bash"]
	if string(chat.GetParentSpanId()) != string(whole.GetSpanId()) || string(whole.GetTraceId()) != string(root.ID[:]) || len(whole.GetParentSpanId()) > 0 {
		t.Error("the spans are no tree")
	}
	if len(chat.GetEvents()) != 1 || chat.GetEvents()[0].GetName() != "new_token" || len(chat.GetEvents()[0].GetAttributes()) != 1 {
		t.Errorf("%v", chat.GetEvents())
	}
	if failed.GetStatus().GetCode() != tracepb.Status_STATUS_CODE_ERROR || failed.GetEvents()[0].GetName() != "exception" || whole.GetStatus().GetCode() != tracepb.Status_STATUS_CODE_UNSET {
		t.Errorf("%v", failed)
	}
	if resource := data.GetResourceSpans()[0].GetResource().GetAttributes(); len(data.GetResourceSpans()) != 1 || len(resource) != 4 {
		t.Errorf("%v", resource)
	}
}

func TestAProviderHasTheNameOfTheConventionsAndLangSmiths(t *testing.T) {
	for name, want := range map[string]string{
		"anthropic": "anthropic", "amazon_bedrock": "aws.bedrock", "amazon-bedrock": "aws.bedrock", "google_genai": "gcp.gemini", "acme-large": "acme-large",
	} {
		_, llm, _ := turn(1)
		llm.Metadata["response_id"], llm.Metadata["response_model"] = "msg_1", "dated"
		llm.Model.Provider = name
		spans, _ := sent(t, post(llm))
		got := about(spans["chat claude-opus-4-5"].GetAttributes())
		if got["gen_ai.provider.name"] != want || got["gen_ai.system"] != name || got["gen_ai.response.id"] != "msg_1" || got["gen_ai.response.model"] != "dated" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAClockThatIsFarOffGivesASpanWithTimesAllTheSame(t *testing.T) {
	root, _, tool := turn(1)
	whole := runtypes.Merge(root, ended(root))
	whole.Start = time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)
	tool.End, tool.Error = time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC), "late"
	tool.Events = []runtypes.RunEvent{{Name: "new_token", Time: whole.Start}, {Name: "new_token", Time: tool.End}}
	spans, _ := sent(t, post(whole), post(tool))
	for name, span := range spans {
		for _, event := range span.GetEvents() {
			if at := event.GetTimeUnixNano(); at == 0 || at > math.MaxInt64 {
				t.Errorf("%s: %s at %d", name, event.GetName(), at)
			}
		}
		if start, end := span.GetStartTimeUnixNano(), span.GetEndTimeUnixNano(); start == 0 || end < start || end > math.MaxInt64 {
			t.Errorf("%s: from %d to %d", name, start, end)
		}
	}
	if len(spans) != 2 {
		t.Errorf("%d spans", len(spans))
	}
}

// The first bytes of derived ids are the turn's time.
func TestRunsOfATurnHaveSpansOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for n := range 20_000 {
		root := idgen.Run(someTime, "run", fmt.Sprint(n)).String()
		span := contextOf(root, root).SpanID()
		if seen[span.String()] || !span.IsValid() {
			t.Fatalf("%s twice", span)
		}
		seen[span.String()] = true
	}
}

// What the protocol cannot hold must not spoil the runs beside it.
func TestBadTextSpoilsNothing(t *testing.T) {
	_, llm, tool := turn(1)
	tool.Tags, tool.Metadata["b\xffd"] = []string{"t\xffg"}, "v\xff"
	tool.Error = "e\xff"
	if spans, _ := sent(t, post(llm), post(tool)); len(spans) != 2 {
		t.Errorf("%d spans", len(spans))
	}
}
