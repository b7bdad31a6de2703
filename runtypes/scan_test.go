package runtypes

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tracesmith/tracesmith/internal/idgen"
)

func FuzzScanAgreesWithEncodingJSON(f *testing.F) {
	for _, doc := range []string{
		``, ` `, `{}`, `[]`, `[ ]`, `{ }`, `[1,]`, `[,1]`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{1:2}`, `[1 2]`, `1 2`,
		`0`, `-0`, `-`, `01`, `1.`, `.5`, `1e5`, `1e`, `1E+5`, `1e-`, `-1.5e-10`, `--1`, `123456789012345678`, `1234567890123456789`,
		`true`, `tru`, `trueX`, `false`, `null`, `nulL`, "\t\n\r 1 \t\n\r", "\v1",
		`"`, `"a`, `"\"`, `"\\"`, `"\u12"`, `"\u123G"`, `"\uD800"`, `"\x"`, "\"\n\"", "\"\x7f\"", "\"\x00\"",
		`"12345678"`, `"1234567\"90"`, "\"é😀\xff\"", `"\ud83d\ude00"`, "{\"\xff\":1}",
		strings.Repeat("[", 50), strings.Repeat("[", deepest) + strings.Repeat("]", deepest),
		strings.Repeat("[", deepest+1) + strings.Repeat("]", deepest+1),
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		got := scan(doc)
		if valid := json.Valid(doc); valid != (got != invalid) {
			t.Fatalf("scan(%.100q) = %d, json.Valid = %t", doc, got, valid)
		}
		if got != clean {
			return
		}
		if !utf8.Valid(doc) {
			t.Fatalf("scan(%q) = clean", doc)
		}
		if again := mustRewrite(t, doc); !sameJSON(doc, again) {
			t.Fatalf("%s is clean, and yet rewritten as %s", doc, again)
		}
	})
}

func mustRewrite(t *testing.T, doc []byte) []byte {
	out, err := rewrite(doc)
	if err != nil {
		t.Fatalf("rewrite(%q): %v", doc, err)
	}
	return out
}

// sameJSON compares the tokens of two documents, so that an escape and what it
// stands for are equal.
func sameJSON(a, b []byte) bool {
	x, y := json.NewDecoder(bytes.NewReader(a)), json.NewDecoder(bytes.NewReader(b))
	x.UseNumber()
	y.UseNumber()
	for {
		p, errP := x.Token()
		q, errQ := y.Token()
		if errP != nil || errQ != nil {
			return errP != nil && errQ != nil
		}
		if p != q {
			return false
		}
	}
}

func FuzzAppendTextAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c\n\t\r\b\f\x00\x1f\x7f", "<&>", "\u2028\u2029", "é😀\xff\xc3", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendText(nil, s); !bytes.Equal(got, want) {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}

func BenchmarkClean(b *testing.B) {
	code := strings.Repeat("func main() {\n\tif err := run(); err != nil {\n\t\tlog.Fatalf(\"run: %v\", err)\n\t}\n}\n", 50)
	doc, err := encode(map[string]string{"command": code})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, err := Clean(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	r := Finish(LLM(root(), idgen.New(), start, Model{Name: "claude-opus-4-8", Provider: "anthropic"}), start)
	r.Usage = &Usage{Input: 512, Output: 512, CacheRead: 256}
	r.Inputs = Messages(Message{Role: "user", Content: strings.Repeat("what does this do?\n", 100)})
	r.Outputs = Messages(Message{Role: "assistant", Content: strings.Repeat("it runs the tests.\n", 100)})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Encode(Op{Verb: Post, Run: r}); err != nil {
			b.Fatal(err)
		}
	}
}
