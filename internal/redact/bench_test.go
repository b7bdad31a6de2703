package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// transcript is a megabyte of what agents see: prose, code, listings, JSON.
func transcript(tb testing.TB) json.RawMessage {
	tb.Helper()
	block := strings.Join(append(benign(), `func (p *parser) next() (token, error) {
	if p.pos >= len(p.input) {
		return token{}, io.EOF // the key to it all
	}
	return p.tokens[p.pos], nil
}`), "\n")
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "%d: %s\n", i, block)
	}
	raw, err := json.Marshal(map[string]string{"output": b.String()})
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func BenchmarkFast(b *testing.B) {
	doc := transcript(b)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, err := Fast(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	doc := transcript(b)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, err := JSON(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		newFast()
	}
}
