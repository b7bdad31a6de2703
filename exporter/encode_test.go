package exporter

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"strconv"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

// FuzzMultipart compares the encoder with the reader LangSmith uses.
func FuzzMultipart(f *testing.F) {
	f.Add([]byte(`{"id":1}`), []byte(`{}`), []byte("\r\n--"), uint8(3))
	f.Add([]byte{}, []byte{0}, []byte("--boundary--\r\n"), uint8(0))
	f.Fuzz(func(t *testing.T, main, inputs, extra []byte, n uint8) {
		boundary := newBoundary()
		var records []*record
		type part struct {
			name string
			body []byte
		}
		var want []part
		for i := range int(n % 5) {
			r := &record{verb: runtypes.Post, id: strconv.Itoa(i), main: main, fields: []field{{"inputs", inputs}, {"extra", extra}}}
			if i%2 == 1 {
				r.verb = runtypes.Patch
			}
			name := string(r.verb) + "." + r.id
			want = append(want, part{name, main}, part{name + ".inputs", inputs}, part{name + ".extra", extra})
			records = append(records, r)
		}
		body := appendMultipart(nil, boundary, records)
		size := len(boundary) + 6
		for _, r := range records {
			size += r.size()
		}
		if len(body) > size {
			t.Errorf("%d bytes, said to be at most %d", len(body), size)
		}
		reader := multipart.NewReader(bytes.NewReader(body), boundary)
		for i := 0; ; i++ {
			p, err := reader.NextRawPart()
			if i == len(want) {
				if err != io.EOF {
					t.Fatalf("after the last part: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(p)
			if err != nil || p.FormName() != want[i].name || !bytes.Equal(got, want[i].body) ||
				p.Header.Get("Content-Length") != strconv.Itoa(len(got)) {
				t.Fatalf("part %d: %v %q: %v", i, p.Header, got, err)
			}
		}
	})
}

// FuzzCutStrings checks that cutting keeps JSON valid, its shape, and its texts'
// beginnings.
func FuzzCutStrings(f *testing.F) {
	for _, s := range []string{
		`{"a":"b"}`, `"` + strings.Repeat(`\\`, 200) + `"`, `["` + strings.Repeat(`\ud83d\ude00`, 60) + `x"]`,
		`{"` + strings.Repeat("é", 200) + `":[1,2,"` + strings.Repeat(`\"`, 300) + `"]}`, `  "😀` + strings.Repeat("😀", 100) + `" `,
	} {
		f.Add([]byte(s), uint16(100))
	}
	f.Fuzz(func(t *testing.T, raw []byte, limit uint16) {
		raw, err := runtypes.Clean(raw)
		if err != nil {
			t.Skip()
		}
		out := cutStrings(raw, int(limit))
		if !json.Valid(out) {
			t.Fatalf("%q became %q", raw, out)
		}
		again, err := runtypes.Clean(out)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q became %q, which needs repair", raw, out)
		}
		var text, cut string
		if json.Unmarshal(raw, &text) == nil && json.Unmarshal(out, &cut) == nil {
			kept, _, was := strings.Cut(cut, " … [")
			if was && !strings.HasPrefix(text, kept) || !was && text != cut {
				t.Fatalf("%q became %q", text, cut)
			}
		}
	})
}

func TestBothEndpointsCarryTheSameRun(t *testing.T) {
	run := ended(1)
	run.Error = "no"
	want, err := runtypes.Encode(post(run))
	if err != nil {
		t.Fatal(err)
	}
	r := newRecord(runtypes.Post, &want)
	var got runtypes.Wire
	if err := json.Unmarshal(r.appendJSON(nil), &got); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	if !bytes.Equal(a, b) {
		t.Errorf("\n%s\n%s", a, b)
	}
}
