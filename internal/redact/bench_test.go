package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const page = `func (p *parser) next() (lexeme, error) {
	if p.pos >= len(p.input) {
		return lexeme{}, io.EOF // nothing is left to read
	}
	p.pos++
	return p.lexemes[p.pos-1], nil
}
--- PASS: TestParser (0.01s)
The change moves the check in front of the loop, so that an empty input no longer
reaches it; the callers in cmd/ and internal/ stay as they are.
{"file_path": "/home/dev/widgets/parser.go", "offset": 120, "limit": 40}
`

// transcript is a megabyte of what agents see: code, prose and JSON, with a line
// that is almost a secret in every kilobyte.
func transcript(tb testing.TB) json.RawMessage {
	tb.Helper()
	near := benign()
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "%s%s%d: %s\n", page, page, i, near[i%len(near)])
	}
	raw, err := json.Marshal(map[string]string{"output": b.String()})
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// BenchmarkFast measures what the agent waits for.
func BenchmarkFast(b *testing.B) {
	doc := transcript(b)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, err := Fast(doc); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFull measures what looks at every string before it leaves the machine.
func BenchmarkFull(b *testing.B) {
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
