package agentkit

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestSlimKeepsTheNamedMembersOnly(t *testing.T) {
	check := func(doc string, limit int, want string, keep ...string) {
		t.Helper()
		if got := string(Slim([]byte(doc), limit, keep...)); got != want {
			t.Errorf("Slim(%s) = %s, want %s", doc, got, want)
		}
	}
	check(`{"a":1,"b":{"a":[1,"}\"",{}]},"c":"x"}`, 100, `{"a":1,"c":"x"}`, "a", "c")
	check(` { "a" : [1, 2] , "b" : null } `, 100, `{"a":[1, 2]}`, "a")
	check(`{"a":"long text","b":true}`, 4, `{"b":true}`, "a", "b")
	check(`{}`, 4, `{}`, "a")
	check(`{"a":"\\","b":1}`, 9, `{"a":"\\","b":1}`, "a", "b")
	for _, bad := range []string{``, `[]`, `{"a":1`, `{"a"}`, `{"a":1}x`, `{"a":}`, `{"a":"x`, `nope`, `{"a":[1}`} {
		if got := string(Slim([]byte(bad), 9, "a")); got != bad && json.Valid([]byte(got)) != json.Valid([]byte(bad)) {
			t.Errorf("Slim(%s) = %s", bad, got)
		}
	}
}

func TestMemberFindsAValueUndecoded(t *testing.T) {
	doc := []byte(`{"x":{"a":1},"a":{"deep":["\u0041"]}}`)
	if got := string(Member(doc, "a")); got != `{"deep":["\u0041"]}` {
		t.Errorf("a = %s", got)
	}
	if got := Member(doc, "b"); got != nil {
		t.Errorf("b = %s", got)
	}
}

// What Slim keeps decodes to what the whole document decodes to.
func FuzzSlim(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":"x","c":[{}]}`, `{"a":"\ud800","a":2}`, `{"a":{"b":"}"}}`, strings.Repeat(`[`, 50)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !json.Valid(doc) || bytes.Contains(doc, []byte(`\`)) {
			return
		}
		var whole map[string]json.RawMessage
		if json.Unmarshal(doc, &whole) != nil || whole == nil {
			return
		}
		var slim map[string]json.RawMessage
		if err := json.Unmarshal(Slim(doc, len(doc), "a", "b"), &slim); err != nil {
			t.Fatalf("Slim(%s): %v", doc, err)
		}
		for _, key := range []string{"a", "b"} {
			if !bytes.Equal(whole[key], slim[key]) {
				t.Fatalf("%s: %s is %s, want %s", doc, key, slim[key], whole[key])
			}
		}
	})
}

func BenchmarkSlim(b *testing.B) {
	doc := []byte(`{"session_id":"s","tool_response":{"stdout":"` + strings.Repeat("some output\\n", 1<<20) + `"},"tool_name":"Bash"}`)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		Slim(doc, 1<<20, "session_id", "tool_name")
	}
}

func TestClipJSONReadsOnlyTheBeginningOfALongText(t *testing.T) {
	long := strings.Repeat(`a\n\"é\ud83d\ude00`, 1<<16)
	got := ClipJSON(json.RawMessage(`"` + long + `"`))
	if !strings.HasPrefix(got, "a\n\"é😀a\n") || !strings.HasSuffix(got, "bytes left out]") || len(got) > MaxCarried+64 {
		t.Errorf("%d bytes: %.20q … %.40q", len(got), got, got[max(0, len(got)-40):])
	}
	for raw, want := range map[string]string{`"x"`: "x", `7`: "", ``: "", `{"a":1}`: "", `"\ud800"`: "�"} {
		if got := ClipJSON(json.RawMessage(raw)); got != want {
			t.Errorf("ClipJSON(%s) = %q, want %q", raw, got, want)
		}
	}
}
