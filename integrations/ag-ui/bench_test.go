package agui

import (
	"bytes"
	"strings"
	"testing"
)

// BenchmarkDecode reads and assembles a message of a thousand deltas.
func BenchmarkDecode(b *testing.B) {
	lines := []string{started, `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`}
	for range 1000 {
		lines = append(lines, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":" and so on","metadata":{"n":1}}`)
	}
	lines = append(lines, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`, finished)
	var binary []byte
	for _, line := range lines {
		event, _ := DecodeJSON([]byte(line))
		raw, err := EncodeProtobuf(event, PeerUnknown)
		if err != nil {
			b.Fatal(err)
		}
		binary = AppendFrame(binary, raw)
	}
	for format, stream := range map[Format][]byte{
		SSE:      []byte("data: " + strings.Join(lines, "\n\ndata: ")),
		Protobuf: binary,
	} {
		b.Run(string(format), func(b *testing.B) {
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				a := NewAssembler()
				d := NewDecoder(bytes.NewReader(stream), Options{})
				for {
					frame, err := d.Next()
					if err != nil {
						break
					}
					a.Apply(frame)
				}
			}
		})
	}
}
