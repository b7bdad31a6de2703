package redact

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/tracesmith/tracesmith/runtypes"
)

// wide is a text in UTF-16 with its byte order mark.
func wide(t *testing.T, order binary.AppendByteOrder, text string) []byte {
	t.Helper()
	out := order.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

func TestAFileOfTextIsCleanedInWhateverEncoding(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	text := "GITHUB_TOKEN=" + secret + "\n"
	f := func(name, mime string, data []byte, cleaned bool) {
		t.Helper()
		run := &runtypes.Run{Attachments: []runtypes.Attachment{{Name: "f", MIMEType: mime, Data: data}}}
		before := bytes.Clone(data)
		if err := Run(run); err != nil {
			t.Fatal(err)
		}
		got := run.Attachments[0].Data
		if there := strings.Contains(string(bytes.ReplaceAll(got, []byte{0}, nil)), secret); there == cleaned || !cleaned && !bytes.Equal(got, before) {
			t.Errorf("%s: %q", name, got)
		}
		if !bytes.Equal(data, before) {
			t.Errorf("%s: the caller's bytes changed", name)
		}
	}
	f("UTF-8", "text/plain", []byte("caf\u00e9\n"+text), true)
	f("Latin-1", "text/plain", []byte("caf\xe9\n"+text), true)
	f("Latin-1 of no kind", "application/octet-stream", []byte("caf\xe9\n"+text), true)
	f("a log with a NUL", "text/x-log; charset=utf-8", []byte("\x00\xff"+text), true)
	f("JSON with a NUL", "application/json", []byte("{\"a\":\"\x00"+text+"\"}"), true)
	f("UTF-16", "text/plain", wide(t, binary.LittleEndian, text), true)
	f("UTF-16, big end first", "application/octet-stream", wide(t, binary.BigEndian, text), true)
	f("half a unit of UTF-16", "text/plain", append(wide(t, binary.LittleEndian, text), 'x'), true)
	f("an image", "image/png", []byte("\x89PNG\r\n\x1a\n\x00\x00"+text), false)
}
