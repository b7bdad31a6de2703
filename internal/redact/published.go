package redact

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"sync"
)

// published are the rules of the gitleaks project, as its folder's convert program
// writes them: see gitleaks/LICENSE. They are read when the full pass is first used,
// and each pattern is compiled when its keyword first turns up.
//
//go:embed gitleaks/rules.json
var published []byte

// rulesFile is what the file holds.
type rulesFile struct {
	Tokens []struct {
		Name     string   `json:"name"`
		Keywords []string `json:"keywords"`
		Pattern  string   `json:"pattern"`
		Word     bool     `json:"word"`
		Entropy  float64  `json:"entropy"`
	} `json:"tokens"`
	Vendors []struct {
		Name    string   `json:"name"`
		Words   []string `json:"words"`
		Value   string   `json:"value"`
		Entropy float64  `json:"entropy"`
	} `json:"vendors"`
}

// addPublished enters the published rules. The file is part of the program: that it
// can be read is a test's matter, and that it cannot stops every pass.
func (x *index) addPublished() {
	var file rulesFile
	if err := json.Unmarshal(published, &file); err != nil {
		panic("redact: the rules cannot be read")
	}
	for _, t := range file.Tokens {
		x.addToken(&rule{name: t.Name, keywords: t.Keywords, pattern: t.Pattern, word: t.Word, strict: true, entropy: t.Entropy}, true)
	}
	words := map[string]int{} // where x.vendors has a word
	for _, v := range file.Vendors {
		s := &valueShape{name: v.Name, pattern: v.Value, entropy: v.Entropy}
		for _, word := range v.Words {
			at, known := words[word]
			if !known {
				at = len(x.vendors)
				words[word] = at
				x.vendors = append(x.vendors, nil)
				x.add(keyword{text: word, fold: true, kind: kindVendor, rule: at})
			}
			x.vendors[at] = append(x.vendors[at], s)
		}
	}
}

// vendor is what the values look like that are given to names with its word in it.
type vendor []*valueShape

// valueShape is one such look.
type valueShape struct {
	name    string
	pattern string
	entropy float64

	once  sync.Once
	whole *regexp.Regexp
}
