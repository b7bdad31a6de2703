package redact

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"

	"github.com/tracesmith/tracesmith/runtypes"
)

// readable is the text of a file, nil if it is none. A file is text if it says so or
// if there is no NUL in it, whatever its encoding: one letter of Latin-1 must not hide
// the rest.
func readable(a *runtypes.Attachment) []byte {
	if text := fromUTF16(a.Data); text != nil {
		return text
	}
	kind := strings.ToLower(a.MIMEType)
	for _, mark := range []string{"text/", "json", "xml", "yaml", "script"} {
		if strings.Contains(kind, mark) {
			return a.Data
		}
	}
	if bytes.IndexByte(a.Data, 0) >= 0 {
		return nil
	}
	return a.Data
}

// fromUTF16 decodes what begins with a byte order mark of UTF-16; nil if it does not.
func fromUTF16(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return nil
	}
	units := make([]uint16, 0, len(data)/2)
	for at := 2; at+1 < len(data); at += 2 {
		units = append(units, order.Uint16(data[at:]))
	}
	return []byte(string(utf16.Decode(units)))
}
