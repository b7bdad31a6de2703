package otlp

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/tracesmith/tracesmith/exporter/internal/dialect"
)

// protocol is OTLP over HTTP, in protobuf.
//
// The SDK's own sender, otlptracehttp, is not used: it retries no refused connection, hides
// the status of an answer in a text, reads OTEL_EXPORTER_OTLP_* of the agent's environment,
// and links gRPC, which takes 2.4 MB of the program more. The SDK's exporter takes another
// sender in its place, which is what the encoder is.
func protocol() *dialect.Dialect {
	return &dialect.Dialect{Path: "/v1/traces", ContentType: "application/x-protobuf", Body: encode, Refused: refused}
}

// encode makes the body of a request.
func encode(runs []dialect.Run) ([]byte, error) {
	spans := make([]sdktrace.ReadOnlySpan, len(runs))
	for i, run := range runs {
		var err error
		if spans[i], err = span(run); err != nil {
			return nil, err
		}
	}
	var e encoder
	err := otlptrace.NewUnstarted(&e).ExportSpans(context.Background(), spans)
	return e.body, err
}

// encoder is a sender of the SDK's that keeps what it is to send.
type encoder struct{ body []byte }

// UploadTraces keeps the spans. TracesData has the wire form of ExportTraceServiceRequest,
// whose package would bring gRPC along.
func (e *encoder) UploadTraces(_ context.Context, spans []*tracepb.ResourceSpans) (err error) {
	if e.body, err = proto.Marshal(&tracepb.TracesData{ResourceSpans: spans}); err != nil {
		return fmt.Errorf("otlp: encode: %w", err)
	}
	return nil
}

// Start and Stop have nothing to do.
func (e *encoder) Start(context.Context) error { return nil }

// Stop is as Start.
func (e *encoder) Stop(context.Context) error { return nil }

// The fields of ExportTraceServiceResponse and ExportTracePartialSuccess.
const (
	fieldPartialSuccess = 1
	fieldRejectedSpans  = 1
)

// refused reads off an answer how many spans were not taken. An answer in another form, such
// as JSON, is taken for one that says nothing.
func refused(answer []byte) int {
	n := 0
	_ = fields(answer, func(number protowire.Number, _ uint64, partial []byte) {
		if number != fieldPartialSuccess {
			return
		}
		_ = fields(partial, func(number protowire.Number, value uint64, _ []byte) {
			if number == fieldRejectedSpans && value < 1<<31 {
				n = int(value)
			}
		})
	})
	return n
}

// fields walks over a message and reports whether it is one.
func fields(message []byte, each func(number protowire.Number, value uint64, raw []byte)) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var value uint64
		var raw []byte
		switch kind {
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			raw, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		each(number, value, raw)
	}
	return nil
}
