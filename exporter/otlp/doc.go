// Package otlp delivers runs as OpenTelemetry spans, to a Collector or to whatever else
// takes OTLP over HTTP.
//
// [New] is a sink for a turn, as exporter.New is, and [NewClient] sends now, as
// exporter.NewClient does. Queue, batches, retries, redaction and the counting of losses
// are those of package exporter, whose Config says where spans go and how; the spans and
// their encoding are the OpenTelemetry SDK's.
//
// # What a span says
//
// The trace's id is that of the root run, and the span's id the last eight bytes of the
// run's. The run's own ids, its place in the tree, name, type, project, tags and metadata
// are attributes beginning with langsmith. (span.id, trace.id, span.parent_id,
// span.dotted_order, trace.name, span.kind, trace.session_name, span.tags, metadata.*), so
// that LangSmith files the span as the run that it is; usage is langsmith.usage_metadata and
// attachments are langsmith.attachments. Beside them stand the GenAI conventions: operation,
// agent, conversation, provider, model and its parameters, tokens, tool. Inputs and outputs are
// gen_ai.prompt and gen_ai.completion, JSON as the run holds it, once: the conventions' newer
// gen_ai.input.messages would say the same a second time.
//
// An error is the span's status and an exception event. An interrupted run has
// error.type "interrupted". A moment within a run, such as its first token, is an event.
//
// Sources: LangSmith's guide to tracing with OpenTelemetry, and the GenAI semantic
// conventions.
//
// # What is different from LangSmith's own protocol
//
// A span is sent once, when its run has ended: a turn cannot be watched while it runs, and
// its children arrive before it does. Tags are one text, parted by commas, so that a tag
// with a comma is written with a semicolon. LangSmith does not show events of spans.
// Metadata that is a list or an object arrives as JSON text.
//
// # At least once
//
// What is sent again after a lost answer has the same ids. LangSmith knows them; other
// backends may show such a span twice. An answer that accepts a request but for some of its
// spans does not say which: they are counted (exporter.DropError.Unnamed) and not sent again,
// as the protocol wants it.
package otlp
