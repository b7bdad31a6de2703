package redact

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestWhatTheUserAllowsStays(t *testing.T) {
	allow, err := NewAllow([]string{`hunter\d+`, `ghp_` + alnum + `.*`})
	if err != nil {
		t.Fatal(err)
	}
	p := Pass{Allow: allow}
	f := func(in, want string) {
		t.Helper()
		if got := p.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	f("PASSWORD=hunter22 x", "PASSWORD=hunter22 x")
	f("PASSWORD=hunter22x", "PASSWORD=[redacted:password]") // whole finds only
	f("a\nPASSWORD=xhunter22", "a\nPASSWORD=[redacted:password]")
	f("PASSWORD=hunter22 TOKEN=abc123def456", "PASSWORD=hunter22 TOKEN=[redacted:token]")
	doc := json.RawMessage(`{"password":"hunter22","t":"ghp_` + alnum + `Abcd","api_key":"abc123def"}`)
	want := strings.Replace(string(doc), "abc123def", "[redacted:api-key]", 1)
	if got, err := p.JSON(doc); err != nil || string(got) != want {
		t.Errorf("JSON = %s, %v", got, err)
	}
	if got, err := p.Fast(doc); err != nil || string(got) != string(doc) {
		t.Errorf("Fast = %s, %v", got, err)
	}
	if got, err := (Pass{Allow: allow}).JSON(json.RawMessage(`{"password":1234567}`)); err != nil || string(got) != `{"password":"[redacted:password]"}` {
		t.Errorf("a number: %s, %v", got, err)
	}
	r := full()
	r.Error = "PASSWORD=hunter22"
	if err := p.Run(r); err != nil || r.Error != "PASSWORD=hunter22" {
		t.Errorf("Run left %q, %v", r.Error, err)
	}
}

func TestAnAllowedPatternThatIsNoneIsAnErrorThatQuotesNothing(t *testing.T) {
	if _, err := NewAllow([]string{"a", "hunter22("}); err == nil || strings.Contains(err.Error(), "hunter22") || !strings.Contains(err.Error(), "2") {
		t.Errorf("got %v", err)
	}
}

func TestEachFindIsCountedByItsRule(t *testing.T) {
	var found []string
	p := Pass{Found: func(rule string) { found = append(found, rule) }}
	p.Text("PASSWORD=hunter22 https://bob:hunter22@x.test ghp_" + alnum + "Abcd")
	if _, err := p.JSON(json.RawMessage(`{"password":1234567,"ghp_` + alnum + `Abcd":[{"secret":"a1b2c3d4"}]}`)); err != nil {
		t.Fatal(err)
	}
	want := []string{"password", "url-password", "github-pat", "password", "github-pat", "secret"}
	if !slices.Equal(found, want) {
		t.Errorf("got %q, want %q", found, want)
	}
}

// Amazon publishes an example of a key. It is a key like others: nobody can tell from
// a text who took an example for a start. What is made of nothing but words for a
// secret stays.
func TestAPublishedExampleIsAKeyAndAPlaceholderIsNone(t *testing.T) {
	redacts(t, "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7"+"EXAMPLE", "AWS_ACCESS_KEY_ID=[redacted:aws-access-key-id]")
	redacts(t, "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY"+"EXAMPLEKEY", "AWS_SECRET_ACCESS_KEY=[redacted:secret]")
	redacts(t, "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY"+"EXAMPLEKEY", "aws_secret_access_key = [redacted:secret]")
	redactsJSON(t, `{"SecretAccessKey":"wJalrXUtnFEMI/K7MDENG/bPxRfiCY`+`EXAMPLEKEY"}`, `{"SecretAccessKey":"[redacted:api-key]"}`)
	stays(t, "AWS_SECRET_ACCESS_KEY=EXAMPLE/EXAMPLE", "AWS_SECRET_ACCESS_KEY=your-secret-key", "AWS_SECRET_ACCESS_KEY=<secret>")
}

func TestALoginInBase64IsFound(t *testing.T) {
	const login = "Ym9iOmh1bnRlcjIyIQ==" // bob:hunter22!
	redacts(t, `header = "Basic `+login+`"`, `header = "Basic [redacted:auth-header]"`)
	redacts(t, "send basic "+login+" along", "send basic [redacted:auth-header] along")
	redacts(t, `"auths": {"registry.test": {"auth": "`+login+`"}}`, `"auths": {"registry.test": {"auth": "[redacted:auth]"}}`)
	redacts(t, "//registry.test/:_auth="+login, "//registry.test/:_auth=[redacted:auth]")
	redacts(t, "Authorization: Basic Ym9iOmh1bnRlcjIy\\r\\n", "Authorization: Basic [redacted:auth-header]\\r\\n")
	redactsJSON(t, `{"auths":{"https://index.docker.io/v1/":{"auth":"`+login+`"}}}`, `{"auths":{"https://index.docker.io/v1/":{"auth":"[redacted:auth]"}}}`)
	stays(t, "basic authentication is used", "a basic understanding of it", "Visual Basic ProgrammingLanguage", "Basic dXNlcm5hbWU= is a name")
}

func TestASignedURLIsASecret(t *testing.T) {
	redacts(t, "https://x.blob.core.windows.net/c?sv=2022&sig=Zq8Tn3Wd5Yr1Kc7V%2Bb2Xm9Lp4Gh6Js0Fa%3D&se=1",
		"https://x.blob.core.windows.net/c?sv=2022&sig=[redacted:signed-url]&se=1")
	redacts(t, "https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature="+hex32+hex32, "https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=[redacted:signed-url]")
	redacts(t, "https://storage.googleapis.com/b/o?X-Goog-Signature="+hex32+hex32+"&x=1", "https://storage.googleapis.com/b/o?X-Goog-Signature=[redacted:signed-url]&x=1")
	stays(t, "https://x.test/?sig=none&x=1", "the signature: "+hex32, "sig=SIGTERM", "?sig=abcdefgh")
}
