package plant

import (
	"bytes"
	"slices"
	"strings"
)

// Text is a text with a secret in it.
type Text struct {
	Kind   string
	Body   string
	Secret string
}

// Left reports whether a part of the secret that is of use is in what was sent.
func (t Text) Left(sent []byte) bool {
	secret := t.Secret
	if _, body, ok := strings.Cut(secret, "-----\n"); ok {
		secret, _, _ = strings.Cut(body, "\n")
	}
	half := max(6, len(secret)/2)
	if len(secret) <= half {
		return bytes.Contains(sent, []byte(secret))
	}
	return bytes.Contains(sent, []byte(secret[:half])) || bytes.Contains(sent, []byte(secret[len(secret)-half:]))
}

// Missed are the forms in which redaction is known not to find a secret for certain:
// tables, and what a line break cuts in two.
func Missed() []string { return []string{"csv", "markdown-table", "json-pairs", "url-wrapped"} }

// Texts draws a text of each kind and form that redaction must find in any text.
func Texts(d Drawer) []Text {
	var all []Text
	for _, k := range Prefixed() {
		secret := d.Fill(k.Template)
		all = append(all, Text{k.Name, "the key is " + secret + " I think\n", secret})
	}
	for _, f := range slices.Concat(Named(), Credentials()) {
		if f.JSON || slices.Contains(Missed(), f.Name) {
			continue
		}
		secret := f.Value(d)
		for range 20 { // half of it must be no word that stands anywhere
			if strings.ContainsAny(secret[:max(6, len(secret)/2)], "0123456789") {
				break
			}
			secret = f.Value(d)
		}
		all = append(all, Text{f.Name, strings.Replace(f.Text, "%s", secret, 1), secret})
	}
	return all
}
