package redact

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
)

func TestAKeyTellsThatItsValueIsASecret(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		got, err := JSON(json.RawMessage(in))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("JSON(%s)\n got %s\nwant %s", in, got, want)
		}
		again, err := JSON(got)
		if err != nil || string(again) != string(got) {
			t.Errorf("JSON(%s) again\n got %s, %v", got, again, err)
		}
	}
	f(`{"password": "hunter22"}`, `{"password": "[redacted:password]"}`)
	f(`{"apiKey":"abc123def","b":"abc123def"}`, `{"apiKey":"[redacted:api-key]","b":"abc123def"}`)
	f(`{"client_secret":"a1\nb\"c\u0064"}`, `{"client_secret":"[redacted:secret]"}`)
	f(`{"password":["hunter22","hunter23"],"x":["hunter22"]}`, `{"password":["[redacted:password]","[redacted:password]"],"x":["hunter22"]}`)
	f(`{"Authorization":"Bearer abcdef123456"}`, `{"Authorization":"Bearer [redacted:auth-header]"}`)
	f(`{"X-Api-Key":["abc123def"]}`, `{"X-Api-Key":["[redacted:api-key]"]}`)
	f(`[{"name":"DB_PASSWORD","value":"hunter22"},{"name":"HOST","value":"hunter22"}]`,
		`[{"name":"DB_PASSWORD","value":"[redacted:password]"},{"name":"HOST","value":"hunter22"}]`)
	f(`{"name":"Authorization","value":"abcdef123456"}`, `{"name":"Authorization","value":"[redacted:auth-header]"}`)
	f(`{"token":"ghp_`+alnum+`Abcd"}`, `{"token":"[redacted:github-pat]"}`)
	f(`{"pass\u0077ord":"hunter22"}`, `{"pass\u0077ord":"[redacted:password]"}`)
	f(`{"cmd":"curl -H \"X-Api-Key: abc12345\"\n"}`, `{"cmd":"curl -H \"X-Api-Key: [redacted:api-key]\"\n"}`)
	f(`{"body":"{\"a\":\"{\\\"password\\\":\\\"hunter22\\\"}\"}"}`, `{"body":"{\"a\":\"{\\\"password\\\":\\\"[redacted:password]\\\"}\"}"}`)
	f(`{"env":"A=1\nAPI_KEY=abc123def\nB=<2>"}`, `{"env":"A=1\nAPI_KEY=[redacted:api-key]\nB=<2>"}`)
	// What is no secret.
	for _, same := range []string{
		`{"input_tokens":1234567,"token":1234567,"password":null,"secret":true}`, `{"token":{"value2":"abc123def"}}`,
		`{"properties":{"password":{"type":"string","description":"The password to use"}}}`, `{"token":"1234567"}`,
		`{"id":"550e8400-e29b-41d4-a716-446655440000","sha":"9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c"}`,
		`{"n":12345678901234567890.10e5, "b" : [ ] ,"c":"\u00e4\/"}`, `"just text"`, `12`, `null`, ` {} `, `{"token_count":"abc123def"}`,
		`["password","hunter22"]`, `{"name":"password","type":"hunter22"}`,
	} {
		f(same, same)
	}
}

func TestAnUnchangedDocumentIsReturnedItself(t *testing.T) {
	doc := json.RawMessage(`{"a":"plain \"text\"","b":[1,2.50]}`)
	for name, pass := range map[string]func([]byte) ([]byte, error){"Fast": Fast, "JSON": fullPass} {
		got, err := pass(doc)
		if err != nil || &got[0] != &doc[0] {
			t.Errorf("%s copied the document or failed: %v", name, err)
		}
	}
	if n := testing.AllocsPerRun(10, func() { _, _ = Fast(doc) }); n != 0 {
		t.Errorf("Fast allocates %v times for nothing", n)
	}
}

func TestWhatIsNoJSONIsAnError(t *testing.T) {
	for _, bad := range []string{`"open`, `{"a":"b"} x`, `{"a":hunter22}`, `ghp_x`, `{"a":"b\"`} {
		if got, err := JSON(json.RawMessage(bad)); err == nil || got != nil {
			t.Errorf("JSON(%s) = %s, %v", bad, got, err)
		}
	}
	if got, err := Fast([]byte(`{"a":"open`)); err == nil || got != nil {
		t.Errorf("Fast = %s, %v", got, err)
	}
	if got, err := JSON(nil); err != nil || got != nil {
		t.Errorf("JSON(nil) = %s, %v", got, err)
	}
}

func TestAPanicIsAnErrorThatQuotesNothing(t *testing.T) {
	pass := func() (out []byte, err error) {
		defer recoverInto(&out, &err)
		out = []byte("half")
		panic("hunter22")
	}
	out, err := pass()
	if out != nil || err == nil || strings.Contains(err.Error(), "hunter22") {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestASecretInTheMiddleOfMegabytesIsFound(t *testing.T) {
	filler := strings.Repeat("func add(a, b int) int { return a + b } // \"sum\"\n", 500)
	kinds := append(prefixKinds(), kindCase{"password", "hunter22"})
	var text strings.Builder
	for _, c := range kinds {
		text.WriteString(filler + " PASSWORD=" + c.secret + "\n")
	}
	raw, err := json.Marshal(map[string]string{"text": text.String()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := JSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range kinds {
		if !strings.Contains(string(got), " PASSWORD="+mark(c.rule)) {
			t.Errorf("%s is missing", c.rule)
		}
		if strings.Contains(string(got), c.secret[len(c.secret)-6:]) {
			t.Errorf("%s: the end of the secret is still there", c.rule)
		}
	}
}

func TestAVeryLongValueIsReplacedToItsEnd(t *testing.T) {
	value := strings.Repeat("abcdefg1", 4<<10)
	for _, text := range []string{"API_KEY=" + value, `API_KEY="` + value + `"`} {
		if got := Text(text); strings.Contains(got, "abcdefg1") {
			t.Errorf("%d bytes are left", len(got))
		}
	}
}

func TestADocumentWithinAStringIsLookedThroughAsSuch(t *testing.T) {
	inner := []string{
		`{"env":"- name: DB_PASSWORD\n  value: hunter22\n"}`, `{"argv":["mysql","-u","root","-phunter22"]}`, `["--token","hunter22"]`,
		` {"secret":{"value":"hunter22"}} `, `{"token":"a\"hunter22\\\"b"}`,
	}
	for _, doc := range inner {
		for depth := range maxNested {
			in, err := json.Marshal(map[string]any{"n": 1, "text": doc})
			if err != nil {
				t.Fatal(err)
			}
			got, err := JSON(in)
			if err != nil || strings.Contains(string(got), "hunter22") || !strings.Contains(string(got), markerStart) || !json.Valid(got) {
				t.Errorf("%d deep: JSON(%s) = %s, %v", depth+1, in, got, err)
			}
			if again, err := JSON(got); err != nil || string(again) != string(got) {
				t.Errorf("JSON(%s) again = %s, %v", got, again, err)
			}
			doc = string(in)
		}
	}
	staysJSON(t, `{"text":"{\"n\": 1.50, \"b\": [\"\\u00e4\"]}"}`, `{"text":"[not \"json\""}`)
}

func TestALongTextIsDecodedAtOnce(t *testing.T) {
	text := json.RawMessage(`{"text":"` + strings.Repeat(`a line of a file\n`, 1<<16) + `"}`)
	_ = fullIndex()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := JSON(text)
	runtime.ReadMemStats(&after)
	if used := int(after.TotalAlloc - before.TotalAlloc); err != nil || used > len(text)*3 {
		t.Errorf("%d bytes for a text of %d, %v", used, len(text), err)
	}
}
