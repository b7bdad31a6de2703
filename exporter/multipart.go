package exporter

import (
	"strconv"
)

// partOverhead bounds what frames a part: delimiter, headers and line ends.
const partOverhead = 224

// appendMultipart appends the records as a multipart/form-data body. Every part
// states its type and its length, as LangSmith demands, which is what keeps
// mime/multipart's writer from being used: it would copy each part through an
// io.Writer and build a header map for it.
func appendMultipart(dst []byte, boundary string, records []*record) []byte {
	for _, r := range records {
		dst = appendPart(dst, boundary, r, "", r.main)
		for _, f := range r.fields {
			dst = appendPart(dst, boundary, r, f.name, f.raw)
		}
		for i := range r.files {
			dst = appendAttachment(dst, boundary, r.id, &r.files[i])
		}
	}
	dst = append(dst, "--"...)
	dst = append(dst, boundary...)
	return append(dst, "--\r\n"...)
}

// appendPart appends one part, named verb.id or verb.id.field. None of the three
// can hold a quote or a line end: a verb and a field are constants of ours, an id
// is a formatted UUID.
func appendPart(dst []byte, boundary string, r *record, field string, body []byte) []byte {
	dst = append(dst, "--"...)
	dst = append(dst, boundary...)
	dst = append(dst, "\r\nContent-Disposition: form-data; name=\""...)
	dst = append(dst, r.verb...)
	dst = append(dst, '.')
	dst = append(dst, r.id...)
	if field != "" {
		dst = append(dst, '.')
		dst = append(dst, field...)
	}
	dst = append(dst, "\"\r\nContent-Type: application/json\r\nContent-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(body)), 10)
	dst = append(dst, "\r\n\r\n"...)
	dst = append(dst, body...)
	return append(dst, "\r\n"...)
}
