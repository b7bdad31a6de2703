package runtypes

import "strings"

// MaxAttachments is the most bytes of attachments that a [Turn] or a [Child]
// keeps for its run.
const MaxAttachments = 16 << 20

// Attachment is a file that belongs to a run, such as a screenshot.
type Attachment struct {
	Name     string // without dots: LangSmith refuses them
	MIMEType string // image/png
	Data     []byte
}

// attachmentName makes a name LangSmith takes.
func attachmentName(name string) string {
	name = strings.ReplaceAll(printable(name), ".", "_")
	if name == "" {
		return "attachment"
	}
	return name
}

// attach keeps a file, within the bound.
func (s *scope) attach(name, mimeType string, data []byte) {
	file := Attachment{Name: attachmentName(name), MIMEType: mimeType, Data: data}
	if file.MIMEType == "" {
		file.MIMEType = "application/octet-stream"
	}
	s.change(func(r *Run) {
		total, at := len(data), len(r.Attachments)
		for i, other := range r.Attachments {
			if other.Name == file.Name {
				at = i
				continue
			}
			total += len(other.Data)
		}
		if total > MaxAttachments {
			dropped, _ := r.Metadata[metaDropped].(int)
			r.Metadata = merged(r.Metadata, map[string]any{metaDropped: dropped + 1})
			return
		}
		if at == len(r.Attachments) {
			r.Attachments = append(r.Attachments, file)
			return
		}
		r.Attachments[at] = file
	})
}

// metaDropped counts the attachments that a run had no room for.
const metaDropped = "attachments_dropped"
