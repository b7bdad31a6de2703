package redact

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

// drawer makes texts that a pattern matches.
type drawer struct{ *rand.Rand }

func newDrawer() drawer { return drawer{rand.New(rand.NewPCG(1, 2))} }

func (d drawer) draw(t *testing.T, pattern string) string {
	t.Helper()
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	var b strings.Builder
	d.write(&b, re)
	return b.String()
}

func (d drawer) write(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(d.from(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpAlternate:
		d.write(b, re.Sub[d.IntN(len(re.Sub))])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		least, most := bounds(re)
		for range least + d.IntN(most-least+1) {
			d.write(b, re.Sub[0])
		}
	default:
		for _, sub := range re.Sub {
			d.write(b, sub)
		}
	}
}

func bounds(re *syntax.Regexp) (least, most int) {
	switch re.Op {
	case syntax.OpStar:
		return 0, 8
	case syntax.OpPlus:
		return 8, 12
	case syntax.OpQuest:
		return 0, 1
	}
	if re.Max < 0 {
		return re.Min, re.Min + 8
	}
	return re.Min, re.Max
}

// from draws one of a class's characters that are printed.
func (d drawer) from(class []rune) rune {
	var all []rune
	for i := 0; i < len(class); i += 2 {
		for r := max(class[i], '!'); r <= min(class[i+1], '~'); r++ {
			all = append(all, r)
		}
	}
	return all[d.IntN(len(all))]
}

func readPublished(t *testing.T) rulesFile {
	t.Helper()
	var file rulesFile
	if err := json.Unmarshal(published, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// What a pattern matches is drawn, put where it turns up, and must be gone.
func TestWhatAPublishedRuleMatchesIsFound(t *testing.T) {
	d := newDrawer()
	for _, rule := range readPublished(t).Tokens {
		for range 20 {
			secret := d.draw(t, rule.Pattern)
			if entropy([]byte(secret)) < rule.Entropy {
				continue
			}
			for _, around := range surroundings {
				text := fmt.Sprintf(around, secret)
				if got := Text(text); strings.Contains(got, secret[len(secret)/2:]) || !strings.Contains(got, markerStart) {
					t.Errorf("%s: Text(%q) = %q", rule.Name, text, got)
				}
			}
		}
	}
}

func TestAValueThatIsGivenToAVendorsNameIsFound(t *testing.T) {
	d := newDrawer()
	for _, rule := range readPublished(t).Vendors {
		for range 20 {
			secret := d.draw(t, rule.Value)
			if !drawn([]byte(secret)) || entropy([]byte(secret)) < rule.Entropy {
				continue
			}
			word := rule.Words[d.IntN(len(rule.Words))]
			for _, around := range []string{"%s=%s\n", "%s_app: %s", "const %sCred = \"%s\";", `{\"%s\":\"%s\"}`, "set('%s', '%s')", "X %s => '%s'"} {
				text := fmt.Sprintf(around, word, secret)
				if got := Text(text); strings.Contains(got, secret) || !strings.Contains(got, markerStart) {
					t.Errorf("%s: Text(%q) = %q", rule.Name, text, got)
				}
			}
			doc, err := json.Marshal(map[string]string{word + "_x": secret})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := JSON(doc); err != nil || strings.Contains(string(got), secret) {
				t.Errorf("%s: JSON(%s) = %s, %v", rule.Name, doc, got, err)
			}
		}
	}
}

func TestAPublishedRuleCompilesAndBeginsWithItsKeyword(t *testing.T) {
	file := readPublished(t)
	if len(file.Tokens) < 90 || len(file.Vendors) < 60 {
		t.Fatalf("%d and %d rules", len(file.Tokens), len(file.Vendors))
	}
	d := newDrawer()
	for _, rule := range file.Tokens {
		if sets := head(rule.Pattern); len(sets) < gram {
			t.Errorf("%s: the head has %d bytes", rule.Name, len(sets))
		}
		for range 50 {
			text := strings.ToLower(d.draw(t, rule.Pattern))
			begins := false
			for _, word := range rule.Keywords {
				begins = begins || strings.HasPrefix(text, word)
			}
			if !begins {
				t.Errorf("%s: none of %q begins %q", rule.Name, rule.Keywords, text)
			}
		}
	}
	for _, rule := range file.Vendors {
		if _, err := regexp.Compile(rule.Value); err != nil {
			t.Errorf("%s: %v", rule.Name, err)
		}
	}
}

func TestAChecksumAfterAVendorsNameStays(t *testing.T) {
	sha := hex32 + hex32[:8]
	stays(t,
		"cloudflare-commit: "+sha, "uses: cloudflare/wrangler-action@"+sha, "datadog_sha1="+sha, "twitter-go v1.2.0 h1:"+alnum[:31]+"zzzzzzzzzzz0=",
		"sentry release: "+hex32+hex32, "jfrog/xray@sha256:"+hex32+hex32, "linkedin: alexanderhamilton", "travis = someCamelCaseIdentifier",
		"\"contentful\": \"^9.1.0\"", "linear = interpolateBetweenFrames", "algolia_index_id: "+hex32,
	)
	staysJSON(t, `{"cloudflare_commit":"`+sha+`","netlify":{"sha":"`+sha+`"},"sentry-trace-id":"`+hex32+hex32+`"}`)
}

func TestAPrefixWithinBase64IsNoToken(t *testing.T) {
	stays(t, "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAlgAAAGQCAYAAAByNR6YAA/EAAAB"+alnum+"/AIza"+alnum+alnum)
}
