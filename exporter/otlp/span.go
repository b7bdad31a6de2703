package otlp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/tracesmith/tracesmith/exporter/internal/dialect"
	"github.com/tracesmith/tracesmith/runtypes"
)

// scopeName names what makes the spans.
const scopeName = "github.com/tracesmith/tracesmith/exporter/otlp"

var errNoEnd = errors.New("otlp: a run that has not ended is no span")

// span makes a span of a run that has ended.
func span(run dialect.Run) (sdktrace.ReadOnlySpan, error) {
	start, end, err := run.Times()
	switch {
	case err != nil:
		return nil, fmt.Errorf("otlp: %w", err)
	case end.IsZero():
		return nil, errNoEnd
	}
	meta, kind := run.Metadata(), run.Kind()
	name, with, as := operation(kind, meta)
	var about attributes
	about.langsmith(&run.Wire, meta, run.Files)
	about.genAI(kind, &run.Wire, meta)
	events, err := spanEvents(run.Events)
	if err != nil {
		return nil, err
	}
	stub := tracetest.SpanStub{
		Name:        cmp.Or(strings.ToValidUTF8(strings.TrimSpace(name+" "+with), "\uFFFD"), run.Name, "run"),
		SpanContext: contextOf(run.TraceID, run.ID), SpanKind: as,
		StartTime: nanoseconds(start), EndTime: nanoseconds(end), Events: events,
		Resource:             resourceOf(meta),
		InstrumentationScope: instrumentation.Scope{Name: scopeName, Version: runtypes.Version()},
	}
	if run.ParentRunID != "" {
		stub.Parent = contextOf(run.TraceID, run.ParentRunID)
	}
	if run.Error != "" {
		class := errorClass(meta)
		about.text("error.type", class)
		stub.Status = sdktrace.Status{Code: codes.Error, Description: run.Error}
		stub.Events = append(stub.Events, sdktrace.Event{Name: "exception", Time: stub.EndTime, Attributes: []attribute.KeyValue{
			attribute.String("exception.type", class), attribute.String("exception.message", run.Error),
		}})
	}
	stub.Attributes = about
	return stub.Snapshot(), nil
}

// nanoseconds is the time next to t that a span can say: not before 1970, not after 2262.
func nanoseconds(t time.Time) time.Time {
	first, last := time.Unix(0, 1), time.Unix(0, math.MaxInt64)
	switch {
	case t.Before(first):
		return first
	case t.After(last):
		return last
	}
	return t
}

// errorClass is the kind of an error, of few values.
func errorClass(meta map[string]any) string {
	if meta["ls_is_error_interrupt"] == true {
		return "interrupted"
	}
	return cmp.Or(word(meta, "tool_error_class"), "_OTHER") // the conventions' word for any other
}

// resourceOf says what the spans come from: the agent, seen by Tracesmith.
func resourceOf(meta map[string]any) *resource.Resource {
	var about attributes
	about.text("service.name", cmp.Or(word(meta, "ls_integration"), "tracesmith"))
	about.text("service.version", word(meta, "ls_agent_version"))
	about.text("telemetry.distro.name", "tracesmith")
	about.text("telemetry.distro.version", runtypes.Version())
	return resource.NewSchemaless(about...)
}

// spanEvents are the moments within a run.
func spanEvents(raw json.RawMessage) ([]sdktrace.Event, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var list []map[string]any
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	if err := dec.Decode(&list); err != nil {
		return nil, fmt.Errorf("otlp: events: %w", err)
	}
	var events []sdktrace.Event
	for _, each := range list {
		at, err := time.Parse(time.RFC3339Nano, word(each, "time"))
		if err != nil {
			return nil, fmt.Errorf("otlp: events: %w", err)
		}
		event := sdktrace.Event{Name: word(each, "name"), Time: nanoseconds(at)}
		var about attributes
		for _, key := range slices.Sorted(maps.Keys(each)) {
			if key != "name" && key != "time" {
				about.value(key, each[key])
			}
		}
		event.Attributes = about
		events = append(events, event)
	}
	return events, nil
}
