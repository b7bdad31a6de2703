package redact

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func seeds(f *testing.F) {
	f.Helper()
	for _, s := range benign() {
		f.Add(s)
	}
	for _, s := range []string{
		"\npm_" + alnum + "Abcd", "\\npm_" + alnum + "Abcd", "\"password\": \"x\\\"y z 12\"", "-----BEGIN PRIVATE KEY-----" + alnum + "\"",
		"password=$(echo ghp_" + alnum + "Abcd)", "token=[redacted:x]y12345", "a://b:c@d@e", "\u2028\x00ï\xff", "api_key = \\\\\\\"abc123\\\\\\\"",
		"authorization: bearer token: abc12345 password=hunter22", "secret: string = 'abc12345", "http://a:[redacted:url-password]@b",
		"token=00000A =00000A", "passwords=[\"hunter22\", x, 'Sup3rS3cret9')", "secret: {value: [Sup3rS3cret9, {value", "curl -u a:\"hunter22 -u b:Sup3rS3cret9",
		"machine a login b password hunter22 password x", "pass=${a}x9Abc12345}${", "token = ''' hunter22'''", "https://" + alnum + ":hunter22@a@b",
		"\"--password\" , \"hunter22\", \"--token\",\"a1b2c3d4\"", "name: DB_PASSWORD, value: hunter22 value: hunter22",
	} {
		f.Add(s)
	}
}

// What was redacted once stays as it is, however strange the text.
func FuzzText(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if twice := Text(once); twice != once {
			t.Errorf("Text(%q)\n once %q\ntwice %q", s, once, twice)
		}
	})
}

// Whatever stands around it, a token that stands apart does not survive, and JSON
// stays JSON.
func FuzzPlanted(f *testing.F) {
	seeds(f)
	kinds := prefixKinds()
	f.Fuzz(func(t *testing.T, s string) {
		c := kinds[len(s)%len(kinds)]
		doc, err := json.Marshal(map[string]any{"a": s + " " + c.secret + " " + s, s: s})
		if err != nil {
			t.Skip()
		}
		tail := c.secret[len(c.secret)-10:]
		if strings.Contains(s, tail) {
			t.Skip()
		}
		for name, pass := range map[string]func([]byte) ([]byte, error){"Fast": Fast, "JSON": fullPass} {
			got, err := pass(bytes.Clone(doc))
			if err != nil || !json.Valid(got) {
				t.Errorf("%s(%s)\n got %s, %v", name, doc, got, err)
			}
			if bytes.Contains(got, []byte(tail)) {
				t.Errorf("%s(%s)\n got %s", name, doc, got)
			}
		}
	})
}

// Any bytes: an error or JSON as good as before, never a panic.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"password":["a\u0062cdefg",{"x":1}]}`, `"\ud800\ud83d\ude00\`, `[1,"\u12`, `{"a":"\\"}`, `x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		for _, pass := range []func([]byte) ([]byte, error){Fast, fullPass} {
			got, err := pass(bytes.Clone(doc))
			if err == nil && json.Valid(doc) && !json.Valid(got) {
				t.Errorf("%s became %s", doc, got)
			}
		}
	})
}

// The decoder agrees with encoding/json on every valid string.
func FuzzUnescape(f *testing.F) {
	for _, s := range []string{`"a\n\t\r\b\f\"\\\/b"`, `"\u00e4\ud83d\ude00\ud800x\ud800\u0041"`, `""`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var want string
		if json.Unmarshal(doc, &want) != nil || len(doc) < 2 || doc[0] != '"' || doc[len(doc)-1] != '"' {
			t.Skip()
		}
		got := strings.ToValidUTF8(string(unescape(nil, doc[1:len(doc)-1])), "\ufffd")
		if got != strings.ToValidUTF8(want, "\ufffd") && !bytes.Contains(doc, []byte("\xff")) && json.Valid(doc) && validUTF8(doc) {
			t.Errorf("%s is %q, not %q", doc, got, want)
		}
	})
}

func validUTF8(b []byte) bool { return strings.ToValidUTF8(string(b), "") == string(b) }
