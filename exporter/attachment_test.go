package exporter

import (
	"bytes"
	"io"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/runtypes"
)

// attachments lists what a body carries, by name: "type data".
func attachments(t *testing.T, plain []byte) map[string]string {
	t.Helper()
	boundary := strings.TrimPrefix(strings.SplitN(string(plain), "\r\n", 2)[0], "--")
	reader, found := multipart.NewReader(bytes.NewReader(plain), boundary), map[string]string{}
	for {
		p, err := reader.NextRawPart()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := strings.CutPrefix(p.FormName(), "attachment."); ok {
			found[name] = p.Header.Get("Content-Type") + " " + string(body)
		}
	}
}

func TestAttachmentsTravelAsPartsOfTheirOwn(t *testing.T) {
	run := ended(1)
	run.Attachments = []runtypes.Attachment{
		{Name: "shot.png", MIMEType: "image/png", Data: []byte("\x89PNG\r\n--")},
		{Name: "a\"\r\nX-Evil: 1", MIMEType: "text/plain\r\nX-Evil: 1", Data: []byte("x")},
		{Name: "", Data: nil},
		{Name: "twice", MIMEType: "text/plain; charset=utf-8", Data: []byte("first")},
		{Name: "twice", MIMEType: "text/plain; charset=utf-8", Data: []byte("second")},
	}
	s := newLangsmith(t)
	export(t, newTestClient(t, config(s, nil)), post(run))
	id := run.ID.String() + "."
	want := map[string]string{
		id + "shot_png": "image/png \x89PNG\r\n--", id + "a___X-Evil: 1": anyType + " x",
		id + "attachment": anyType + " ", id + "twice": "text/plain; charset=utf-8 second",
	}
	if diff := cmp.Diff(want, attachments(t, s.calls[0].plain)); diff != "" {
		t.Error(diff)
	}
}

func TestTheOlderEndpointGetsTheRunWithoutItsAttachments(t *testing.T) {
	s := newLangsmith(t)
	s.answer = func(_ int, c call) *reply {
		if c.path == pathMultipart {
			return status(404)
		}
		return nil
	}
	run := ended(1)
	run.Attachments = []runtypes.Attachment{{Name: "a", Data: []byte("x")}}
	c := newTestClient(t, config(s, nil))
	export(t, c, post(run))
	if got := c.Stats(); got.Detached != 1 || got.Delivered != 1 {
		t.Errorf("%+v", got)
	}
}

func TestAttachmentsGoBeforeARunIsLost(t *testing.T) {
	s := newLangsmith(t)
	cfg := config(s, nil)
	cfg.MaxBytes = 20 << 10
	run := ended(1)
	run.Attachments = []runtypes.Attachment{{Name: "small", Data: []byte("x")}, {Name: "large", Data: make([]byte, 100<<10)}}
	c := newTestClient(t, cfg)
	export(t, c, post(run))
	got := attachments(t, s.calls[0].plain)
	if len(got) != 1 || got[run.ID.String()+".small"] == "" || c.Stats().Detached != 1 {
		t.Errorf("%d attachments, %+v", len(got), c.Stats())
	}
}
