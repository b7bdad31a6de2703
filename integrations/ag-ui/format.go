package agui

import (
	"bufio"
	"bytes"
	"mime"
)

// Format is how events are written in a stream.
type Format string

// The formats. The empty Format stands for finding out.
const (
	SSE      Format = "sse"      // server-sent events, one JSON event in the data of each
	Lines    Format = "jsonl"    // one JSON event a line
	Array    Format = "array"    // one JSON array of events
	Protobuf Format = "protobuf" // big-endian uint32 length and ag_ui.Event, again and again
)

// The media types that AG-UI streams travel under.
const (
	MediaTypeSSE      = "text/event-stream"
	MediaTypeProtobuf = "application/vnd.ag-ui.event+proto"
)

// FormatOf returns the format of a stream with that Content-Type, whatever its
// parameters; ok is false for one that is no AG-UI stream.
func FormatOf(contentType string) (f Format, ok bool) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil && mediaType == "" {
		return "", false
	}
	switch mediaType {
	case MediaTypeSSE:
		return SSE, true
	case MediaTypeProtobuf:
		return Protobuf, true
	case "application/x-ndjson", "application/jsonl":
		return Lines, true
	}
	return "", false
}

var byteOrderMark = []byte("\uFEFF")

// sniffLength is how far a stream is looked into for its format.
const sniffLength = 512

// sniff tells the format by what a stream begins with. It waits for no more than it
// needs: a live stream may begin with very little.
func sniff(r *bufio.Reader) Format {
	for n := 1; n <= sniffLength; n++ {
		begin, err := r.Peek(n)
		if f := formatOfBeginning(begin, err != nil); f != "" {
			return f
		}
		if err != nil {
			break
		}
	}
	return SSE
}

// formatOfBeginning returns the format that a beginning shows, empty for one too short
// to tell while there is more to come.
func formatOfBeginning(begin []byte, whole bool) Format {
	if len(begin) == 0 {
		return ""
	}
	if bytes.HasPrefix(byteOrderMark, begin) && !whole {
		return ""
	}
	rest := bytes.TrimLeft(bytes.TrimPrefix(begin, byteOrderMark), " \t\r\n")
	if len(rest) == 0 {
		return ""
	}
	switch c := rest[0]; {
	case c < ' ' || c >= 0x7f: // the length's first byte; text begins with neither
		return Protobuf
	case c == '{':
		return Lines
	case c == '[':
		return formatOfBracket(rest[1:])
	case c == ':':
		return SSE
	}
	for _, field := range []string{"data", "event", "id", "retry"} {
		if bytes.HasPrefix(rest, []byte(field)) || bytes.HasPrefix([]byte(field), rest) {
			return SSE
		}
	}
	return Lines
}

// formatOfBracket tells an array of events from a line such as [DONE].
func formatOfBracket(rest []byte) Format {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	switch {
	case len(rest) == 0:
		return ""
	case rest[0] == '{' || rest[0] == ']':
		return Array
	}
	return Lines
}
