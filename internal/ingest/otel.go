package ingest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/tracesmith/tracesmith/runtypes"
)

// otelType is the one form of OTLP that is read.
const otelType = "application/x-protobuf"

// decodeOTel reads an ExportTraceServiceRequest in protobuf, whose wire form TracesData has.
// A span becomes the run that its attributes say it is, as LangSmith's guide to tracing with
// OpenTelemetry maps them. project is that of spans that name none.
func decodeOTel(body []byte, contentType, project string) (*batch, error) {
	if kind, _, _ := strings.Cut(contentType, ";"); strings.TrimSpace(kind) != otelType {
		return nil, refuse(http.StatusUnsupportedMediaType, "unsupported Content-Type %.40q", contentType)
	}
	var request tracepb.TracesData
	if err := proto.Unmarshal(body, &request); err != nil {
		return nil, refuse(http.StatusBadRequest, "body is no ExportTraceServiceRequest")
	}
	b, seen := newBatch(), map[string]bool{}
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				run, err := runOfSpan(span, project)
				if err != nil {
					return nil, err
				}
				if id := string(run["id"]); seen[id] { // a collector may put what came twice into one request
					continue
				} else {
					seen[id] = true
				}
				if _, ok := attributesOf(span)["langsmith.attachments"]; ok {
					b.dropped["attachment"]++
				}
				if err := b.add(runtypes.Post, run); err != nil {
					return nil, err
				}
			}
		}
	}
	return b, nil
}

// runOfSpan is the run that a span says it is.
func runOfSpan(span *tracepb.Span, project string) (object, error) {
	if len(span.GetTraceId()) != 16 || len(span.GetSpanId()) != 8 {
		return nil, refuse(http.StatusBadRequest, "a span without trace id or span id")
	}
	if span.GetEndTimeUnixNano() < span.GetStartTimeUnixNano() || span.GetStartTimeUnixNano() == 0 {
		return nil, refuse(http.StatusBadRequest, "span %x: ends before it starts, or has no times", span.GetSpanId())
	}
	at := attributesOf(span)
	run := object{}
	run.say("id", cmp.Or(at.text("langsmith.span.id"), paddedID(span.GetSpanId())))
	run.say("trace_id", cmp.Or(at.text("langsmith.trace.id"), uuid.UUID(span.GetTraceId()).String()))
	parent := at.text("langsmith.span.parent_id")
	if parent == "" && len(span.GetParentSpanId()) == 8 {
		parent = paddedID(span.GetParentSpanId())
	}
	run.say("parent_run_id", parent)
	run.say("dotted_order", at.text("langsmith.span.dotted_order"))
	run.say("name", cmp.Or(at.text("langsmith.trace.name"), span.GetName()))
	run.say("run_type", runTypeOf(at))
	run.say("session_name", cmp.Or(at.text("langsmith.trace.session_name"), project))
	run.say("start_time", nano(span.GetStartTimeUnixNano()))
	run.say("end_time", nano(span.GetEndTimeUnixNano()))
	if tags := at.text("langsmith.span.tags"); tags != "" {
		run.value("tags", strings.Split(tags, ","))
	}
	for field, key := range map[string]string{"inputs": "gen_ai.prompt", "outputs": "gen_ai.completion"} {
		if text := at.text(key); text != "" {
			if err := checkJSON(key, []byte(text)); err != nil {
				return nil, err
			}
			run[field] = json.RawMessage(text)
		}
	}
	if err := at.extra(run); err != nil {
		return nil, err
	}
	run.say("error", errorOf(span))
	return run, nil
}

// spanAttributes are a span's, as values that encoding/json writes.
type spanAttributes map[string]any

func attributesOf(span *tracepb.Span) spanAttributes {
	at := spanAttributes{}
	for _, each := range span.GetAttributes() {
		at[each.GetKey()] = valueOf(each.GetValue())
	}
	return at
}

func valueOf(v *commonpb.AnyValue) any {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_BoolValue:
		return v.BoolValue
	case *commonpb.AnyValue_IntValue:
		return v.IntValue
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	case *commonpb.AnyValue_BytesValue:
		return base64.StdEncoding.EncodeToString(v.BytesValue)
	case *commonpb.AnyValue_ArrayValue:
		list := []any{}
		for _, each := range v.ArrayValue.GetValues() {
			list = append(list, valueOf(each))
		}
		return list
	case *commonpb.AnyValue_KvlistValue:
		m := map[string]any{}
		for _, each := range v.KvlistValue.GetValues() {
			m[each.GetKey()] = valueOf(each.GetValue())
		}
		return m
	}
	return nil
}

func (at spanAttributes) text(key string) string {
	text, _ := at[key].(string)
	return text
}

// runTypeOf is what the span says of LangSmith's run types, else what its operation comes to.
func runTypeOf(at spanAttributes) string {
	if kind := at.text("langsmith.span.kind"); kind != "" {
		return strings.ToLower(kind)
	}
	switch at.text("gen_ai.operation.name") {
	case "chat", "completion", "text_completion":
		return "llm"
	case "embedding", "embeddings":
		return "embedding"
	case "execute_tool":
		return "tool"
	}
	return "chain"
}

// extra fills in the metadata, and the usage that stands there.
func (at spanAttributes) extra(run object) error {
	meta := map[string]any{}
	for key, value := range at {
		if own, ok := strings.CutPrefix(key, "langsmith.metadata."); ok && value != nil {
			meta[own] = value
		}
	}
	if usage := at.text("langsmith.usage_metadata"); usage != "" {
		if err := checkJSON("langsmith.usage_metadata", []byte(usage)); err != nil {
			return err
		}
		meta["usage_metadata"] = json.RawMessage(usage)
	}
	params := map[string]any{}
	for key, value := range at {
		if own, ok := strings.CutPrefix(key, "gen_ai.request."); ok {
			params[own] = value
		}
	}
	extra := map[string]any{"metadata": meta}
	if len(params) > 0 {
		extra["invocation_params"] = params
	}
	run.value("extra", extra)
	return nil
}

// errorOf is what went wrong: the exception's message, else the status.
func errorOf(span *tracepb.Span) string {
	if span.GetStatus().GetCode() != tracepb.Status_STATUS_CODE_ERROR {
		return ""
	}
	i := slices.IndexFunc(span.GetEvents(), func(e *tracepb.Span_Event) bool { return e.GetName() == "exception" })
	if i >= 0 {
		for _, each := range span.GetEvents()[i].GetAttributes() {
			if each.GetKey() == "exception.message" {
				return each.GetValue().GetStringValue()
			}
		}
	}
	return cmp.Or(span.GetStatus().GetMessage(), "error")
}

// paddedID is the run that LangSmith makes of a span whose run's id is not said.
func paddedID(span []byte) string {
	var id uuid.UUID
	copy(id[8:], span)
	return id.String()
}

func nano(at uint64) string {
	const most = 1<<63 - 1
	return time.Unix(0, int64(min(at, most))).UTC().Format(runtypes.TimeLayout)
}

// say sets a text, unless it is empty.
func (o object) say(key, text string) {
	if text != "" {
		o[key] = runtypes.AppendText(nil, text)
	}
}

// value sets what encoding/json can write.
func (o object) value(key string, v any) {
	raw, err := json.Marshal(v)
	if err == nil {
		o[key] = raw
	}
}
