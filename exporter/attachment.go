package exporter

import (
	"mime"
	"net/url"
	"strconv"
	"strings"

	"github.com/tracesmith/tracesmith/runtypes"
)

// attachment is a file of a run, fit for the multipart endpoint.
type attachment struct {
	name string // without dots, quotes and control characters
	mime string // valid, in one line
	data []byte
}

const (
	anyType     = "application/octet-stream"
	longestName = 128 // bytes
)

// attach makes attachments that a request can hold. Two of one name would be one
// to the server: the last counts.
func attach(list []runtypes.Attachment) []attachment {
	var out []attachment
	at := make(map[string]int, len(list))
	for _, a := range list {
		fit := attachment{name: attachmentName(a.Name), mime: mimeType(a.MIMEType), data: a.Data}
		if i, ok := at[fit.name]; ok {
			out[i] = fit
			continue
		}
		at[fit.name] = len(out)
		out = append(out, fit)
	}
	return out
}

// attachmentName replaces what a part's name must not hold: LangSmith takes what
// follows a dot for something else, and the rest would end the header.
func attachmentName(name string) string {
	name = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || strings.ContainsRune(`."\`, c) {
			return '_'
		}
		return c
	}, strings.ToValidUTF8(name, "_"))
	if name = cut(name, longestName); name == "" {
		return "attachment"
	}
	return name
}

func mimeType(text string) string {
	kind, params, err := mime.ParseMediaType(text)
	if err != nil {
		return anyType
	}
	if kind = mime.FormatMediaType(kind, params); kind == "" {
		return anyType
	}
	return kind
}

// appendAttachment appends a part. Attachments belong to a run, not to a write.
func appendAttachment(dst []byte, boundary, id string, a *attachment) []byte {
	dst = append(append(append(dst, "--"...), boundary...), "\r\nContent-Disposition: form-data; name=\"attachment."...)
	dst = append(append(append(append(dst, id...), '.'), a.name...), "\"\r\nContent-Type: "...)
	dst = append(append(dst, a.mime...), "\r\nContent-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(a.data)), 10)
	dst = append(append(dst, "\r\n\r\n"...), a.data...)
	return append(dst, "\r\n"...)
}

// size is what the part takes, or a little more.
func (a *attachment) size() int { return partOverhead + len(a.name) + len(a.mime) + len(a.data) }

// word names the attachment in an entry of a spool.
func (a *attachment) word() string {
	return "attachment/" + url.QueryEscape(a.name) + "/" + url.QueryEscape(a.mime)
}

// attachmentOf is the reverse of word.
func attachmentOf(word string, data []byte) (attachment, bool) {
	rest, ok := strings.CutPrefix(word, "attachment/")
	name, kind, _ := strings.Cut(rest, "/")
	a := attachment{data: data}
	var faults [2]error
	a.name, faults[0] = url.QueryUnescape(name)
	a.mime, faults[1] = url.QueryUnescape(kind)
	return a, ok && faults[0] == nil && faults[1] == nil
}

// unite adds a patch's attachments to those of its post.
func unite(ours, theirs []attachment) []attachment {
	for _, a := range theirs {
		found := false
		for i := range ours {
			if ours[i].name == a.name {
				ours[i], found = a, true
			}
		}
		if !found {
			ours = append(ours, a)
		}
	}
	return ours
}
