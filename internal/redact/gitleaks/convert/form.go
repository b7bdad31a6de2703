package main

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
)

// What gitleaks builds its patterns from: see cmd/generate/config/utils there.
const (
	operator = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}(`
	before   = `[\w.-]{0,50}?`
)

// ends are what may follow a secret. They are no part of it.
var ends = []string{
	"(?:[\\x60'\"\\s;]|\\\\[nr]|$|\\b)", "(?:[\\x60'\"\\s;]|\\\\[nr]|$)", `(?:[^\w-]|\z)`, `(?:[^a-zA-Z0-9+/]|\z)`, `\b`,
}

// leftOut are the rules that are not taken.
var leftOut = map[string]string{
	"adobe-client-id":                 identifier,
	"asana-client-id":                 identifier,
	"bitbucket-client-id":             identifier,
	"discord-client-id":               identifier,
	"flutterwave-public-key":          identifier,
	"linkedin-client-id":              identifier,
	"messagebird-client-id":           identifier,
	"new-relic-user-api-id":           identifier,
	"plaid-client-id":                 identifier,
	"sendbird-access-id":              identifier,
	"sumologic-access-id":             identifier,
	"heroku-api-key":                  universal,
	"kucoin-secret-key":               universal,
	"hubspot-api-key":                 universal,
	"looker-client-id":                identifier,
	"mailgun-pub-key":                 identifier,
	"mapbox-api-token":                identifier,
	"microsoft-teams-webhook":         inner,
	"snyk-api-token":                  universal,
	"squarespace-access-token":        universal,
	"curl-auth-header":                own,
	"curl-auth-user":                  own,
	"generic-api-key":                 own,
	"hashicorp-tf-password":           own,
	"jwt":                             own,
	"kubernetes-secret-yaml":          own,
	"nuget-config-password":           own,
	"private-key":                     own,
	"sidekiq-sensitive-url":           own,
	"sonar-api-token":                 own,
	"twilio-api-key":                  own,
	"azure-ad-client-secret":          inner,
	"airtable-personnal-access-token": own,
	"facebook-access-token":           inner,
	"maxmind-license-key":             inner,
	"openai-api-key":                  own,
	"sourcegraph-access-token":        own,
	"vault-service-token":             own,
	"hashicorp-tf-api-token":          own,
	"slack-webhook-url":               own,
	"lob-pub-api-key":                 identifier,
	"freemius-secret-key":             own,
	"pkcs12-file":                     "names a file, not a text",
}

// vague are the rules whose tokens begin as names in code do: they count only after
// the vendor's name.
var vague = map[string]bool{"gocardless-api-token": true}

const (
	identifier = "identifies, and is no secret"
	universal  = "a UUID after a vendor's name is mostly an id; under a secret's name it is found"
	own        = "package redact looks for it in its own way"
	inner      = "has no fixed beginning; package redact looks for it in its own way"
)

// add takes a rule into the list of its form.
func (d *document) add(r rule) error {
	name, value, found := strings.Cut(r.Regex, operator)
	if !found {
		return d.token(r, r.Regex)
	}
	// One rule has a second form behind the first.
	value, _, _ = strings.Cut(value, ends[1]+"|")
	value = strings.TrimSuffix(strings.TrimSuffix(value, ends[1]), ")")
	if strings.HasPrefix(r.Regex, "(?i)") {
		value = "(?i:" + value + ")"
	}
	if !strings.Contains(name, before) {
		return fmt.Errorf("convert: %s: what stands before the name?", r.ID)
	}
	if beginnings, err := prefixes(value); err == nil && !vague[r.ID] && slices.ContainsFunc(r.Keywords, func(k string) bool { return strings.HasPrefix(beginnings[0], k) }) {
		return d.token(r, value)
	}
	words := slices.DeleteFunc(slices.Clone(r.Keywords), func(k string) bool { return !strings.Contains(strings.ToLower(name), plain(k)) })
	if len(words) == 0 {
		return fmt.Errorf("convert: %s: no keyword is in the name", r.ID)
	}
	d.Vendors = append(d.Vendors, vendor{Name: r.ID, Words: words, Value: value, Entropy: r.Entropy})
	return nil
}

// plain is a keyword as far as a pattern spells it.
func plain(keyword string) string {
	if at := strings.IndexAny(keyword, "_-"); at > 0 {
		return keyword[:at]
	}
	return keyword[:min(len(keyword), 4)]
}

// token takes a rule for what begins with fixed letters.
func (d *document) token(r rule, pattern string) error {
	fold := strings.HasPrefix(pattern, "(?i)")
	pattern = strings.TrimPrefix(pattern, "(?i)")
	bare := strings.TrimPrefix(pattern, `\b`)
	word := bare != pattern
	end := ""
	for _, e := range ends {
		if strings.HasSuffix(bare, e) {
			bare, end = strings.TrimSuffix(bare, e), e
			break
		}
	}
	if end == `\b` {
		bare += end
	}
	if fold {
		bare = "(?i:" + bare + ")"
	}
	keywords, err := prefixes(bare)
	if err != nil {
		return fmt.Errorf("convert: %s: %w", r.ID, err)
	}
	d.Tokens = append(d.Tokens, token{Name: r.ID, Keywords: keywords, Pattern: bare, Word: word, Entropy: r.Entropy})
	return nil
}

const (
	shortest = 3  // bytes of a keyword
	longest  = 12 // more tells no more
	most     = 24 // keywords of a rule
	widest   = 8  // characters of a class that are told apart
)

// prefixes are the letters, in lower case, of which one begins whatever the pattern
// matches.
func prefixes(pattern string) ([]string, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	list, _ := beginnings(re.Simplify())
	for i, p := range list {
		list[i] = strings.ToLower(p)[:min(len(p), longest)]
		if len(p) < shortest {
			return nil, fmt.Errorf("begins with no %d fixed letters: %q", shortest, list)
		}
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) == 0 || len(list) > most {
		return nil, fmt.Errorf("%d beginnings", len(list))
	}
	return list, nil
}

// beginnings lists what re can begin with, and whether that is all of it.
func beginnings(re *syntax.Regexp) (list []string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, true
	case syntax.OpCapture:
		return beginnings(re.Sub[0])
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}, true
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if len(list) == widest {
					return []string{""}, false
				}
				list = append(list, string(r))
			}
		}
		return list, true
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			each, all := beginnings(sub)
			list, whole = append(list, each...), whole && all
		}
		return list, whole
	case syntax.OpConcat:
		list, whole = []string{""}, true
		for _, sub := range re.Sub {
			each, all := beginnings(sub)
			if len(list)*len(each) > most {
				return list, false
			}
			var next []string
			for _, a := range list {
				for _, b := range each {
					next = append(next, a+b)
				}
			}
			if list = next; !all {
				return list, false
			}
		}
		return list, whole
	}
	return []string{""}, false
}
