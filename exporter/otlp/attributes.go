package otlp

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/tracesmith/tracesmith/runtypes"
)

// attributes are those of a span, on their way.
type attributes []attribute.KeyValue

// text adds a text, unless it is empty. The wire takes UTF-8 alone.
func (a *attributes) text(key, value string) {
	if value != "" {
		*a = append(*a, attribute.String(strings.ToValidUTF8(key, "\uFFFD"), strings.ToValidUTF8(value, "\uFFFD")))
	}
}

// value adds a value out of JSON: a text, a truth or a number as such, anything else as
// JSON text.
func (a *attributes) value(key string, value any) {
	switch v := value.(type) {
	case nil:
	case string:
		a.text(key, v)
	case bool:
		*a = append(*a, attribute.Bool(strings.ToValidUTF8(key, "\uFFFD"), v))
	case json.Number:
		a.number(key, v)
	default:
		if raw, err := runtypes.Marshal(v); err == nil {
			a.text(key, string(raw))
		}
	}
}

func (a *attributes) number(key string, n json.Number) {
	key = strings.ToValidUTF8(key, "\uFFFD")
	if whole, err := n.Int64(); err == nil {
		*a = append(*a, attribute.Int64(key, whole))
	} else if part, err := n.Float64(); err == nil {
		*a = append(*a, attribute.Float64(key, part))
	} else {
		a.text(key, n.String())
	}
}

// langsmith adds what makes LangSmith file the span as the run that it is.
func (a *attributes) langsmith(w *runtypes.Wire, meta map[string]any, files []runtypes.Attachment) {
	a.text("langsmith.span.id", w.ID)
	a.text("langsmith.trace.id", w.TraceID)
	a.text("langsmith.span.parent_id", w.ParentRunID)
	a.text("langsmith.span.dotted_order", w.DottedOrder)
	a.text("langsmith.span.kind", w.RunType)
	a.text("langsmith.trace.name", w.Name)
	a.text("langsmith.trace.session_name", w.SessionName)
	a.text("langsmith.span.tags", tagText(w.Tags))
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		if key != keyUsage {
			a.value("langsmith.metadata."+key, meta[key])
		}
	}
	a.value("langsmith.usage_metadata", meta[keyUsage])
	a.text("langsmith.attachments", attachmentText(files))
}

const keyUsage = "usage_metadata"

// tagText parts tags by commas, which none of them may hold.
func tagText(tags []string) string {
	list := make([]string, len(tags))
	for i, tag := range tags {
		list[i] = strings.ReplaceAll(tag, ",", ";")
	}
	return strings.Join(list, ",")
}

// attachmentText is attachments as LangSmith reads them off a span.
func attachmentText(files []runtypes.Attachment) string {
	type attachment struct {
		Name     string `json:"name"`
		Content  string `json:"content"`
		MIMEType string `json:"mime_type"`
	}
	var list []attachment
	for _, file := range files {
		list = append(list, attachment{file.Name, base64.StdEncoding.EncodeToString(file.Data), file.MIMEType})
	}
	if list == nil {
		return ""
	}
	raw, err := runtypes.Marshal(list)
	if err != nil {
		return ""
	}
	return string(raw)
}
