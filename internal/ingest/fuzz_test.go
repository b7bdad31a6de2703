package ingest

import (
	"errors"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

const (
	fuzzID  = "019ad3a0-0000-7000-8000-000000000001"
	fuzzRun = `{"id":"` + fuzzID + `","trace_id":"` + fuzzID + `","dotted_order":"20261130T120000000001Z` + fuzzID +
		`","name":"Turn","run_type":"chain","start_time":"2026-11-30T12:00:00.000001Z"}`
)

// sound checks what holds of every body: it is refused with a status, or its
// runs can be written again and have consistent ids.
func sound(t *testing.T, b *batch, err error) {
	t.Helper()
	var refused *refusal
	if err != nil {
		if !errors.As(err, &refused) || refused.status < 400 || refused.status > 499 {
			t.Fatalf("refused with %v", err)
		}
		return
	}
	for _, w := range append(b.posts, b.patches...) {
		if !isUUID(w.ID) || !isUUID(w.TraceID) {
			t.Fatalf("ids %q %q", w.ID, w.TraceID)
		}
		if _, _, err := w.Times(); err != nil && w.StartTime != "" {
			t.Fatal(err)
		}
		if _, err := runtypes.Marshal(w); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzMultipart(f *testing.F) {
	head := "--B\r\nContent-Disposition: form-data; name=\"post." + fuzzID + "\"\r\nContent-Type: application/json"
	f.Add([]byte(head+"; length=227\r\n\r\n"+fuzzRun+"\r\n--B--\r\n"), "multipart/form-data; boundary=B")
	f.Add([]byte(head+"\r\nContent-Length: 2\r\n\r\n{}\r\n--B--"), "multipart/form-data; boundary=B")
	f.Add([]byte("--B--"), "multipart/form-data; boundary=B")
	f.Add([]byte("--\r\n\r\n\r\n--"), "multipart/form-data; boundary=\"\"")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		b, err := decodeMultipart(body, contentType)
		sound(t, b, err)
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"post":[`+fuzzRun+`],"patch":[`+fuzzRun+`]}`), fuzzID)
	f.Add([]byte(fuzzRun), fuzzID)
	f.Add([]byte(`{"id":"`+fuzzID+`","start_time":1e300}`), "x")
	f.Add([]byte(`{"a":"\\\"9223372036854775808","b":-9223372036854775809}`), "")
	f.Fuzz(func(t *testing.T, body []byte, id string) {
		b, err := decodeBatch(body)
		sound(t, b, err)
		b, err = decodePost(body)
		sound(t, b, err)
		b, err = decodePatch(body, id)
		sound(t, b, err)
	})
}
