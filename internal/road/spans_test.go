//go:build linux

package road

import (
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// spanTexts are all texts of a request of spans. A span's name is an operation's and,
// apart from it, that of a thing.
func spanTexts(body []byte) (texts []string) {
	var data tracepb.TracesData
	if proto.Unmarshal(body, &data) != nil {
		return []string{string(body)}
	}
	var value func(*commonpb.AnyValue)
	value = func(v *commonpb.AnyValue) {
		texts = append(texts, v.GetStringValue(), string(v.GetBytesValue()))
		for _, each := range v.GetArrayValue().GetValues() {
			value(each)
		}
		for _, each := range v.GetKvlistValue().GetValues() {
			texts = append(texts, each.GetKey())
			value(each.GetValue())
		}
	}
	attributes := func(list []*commonpb.KeyValue) {
		value(&commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: list}}})
	}
	for _, resource := range data.GetResourceSpans() {
		attributes(resource.GetResource().GetAttributes())
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				operation, thing, _ := strings.Cut(span.GetName(), " ")
				texts = append(texts, operation, thing, span.GetStatus().GetMessage(), span.GetTraceState())
				attributes(span.GetAttributes())
				for _, event := range span.GetEvents() {
					texts = append(texts, event.GetName())
					attributes(event.GetAttributes())
				}
			}
		}
	}
	return texts
}
