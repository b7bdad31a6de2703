package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tracesmith/tracesmith/runtypes"
)

// place is where in a transcript a text with a secret stands.
type place struct {
	name string
	doc  func(d drawer, text string) []byte
}

// places are those in which agents meet secrets.
func places() []place {
	return []place{
		{"prompt", func(d drawer, text string) []byte {
			return marshal(map[string]any{"role": "user", "content": "Please look at this, it fails since Monday:\n\n" + text + "\nWhat is wrong with it?"})
		}},
		{"command", func(d drawer, text string) []byte {
			return marshal(map[string]any{"tool": "bash", "input": map[string]any{"command": "cd app && cat <<'EOF' > .env\n" + text + "\nEOF\n", "timeout": 120000}})
		}},
		{"output", func(d drawer, text string) []byte {
			return marshal(map[string]any{"tool_response": map[string]any{"stdout": prose(d, 40) + "\n" + text + "\n" + prose(d, 40), "exit_code": 0}})
		}},
		{"file", func(d drawer, text string) []byte {
			return marshal(map[string]any{"file_path": "/home/dev/app/settings.py", "content": "import os\n\nDEBUG = True\n" + text + "\nPORT = 8080\n"})
		}},
		{"diff", func(d drawer, text string) []byte {
			lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
			return marshal(map[string]any{"patch": "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n context\n+" + strings.Join(lines, "\n+") + "\n context\n"})
		}},
		{"escaped", func(d drawer, text string) []byte {
			return marshal(map[string]any{"result": string(marshal(map[string]any{"log": []string{prose(d, 12), text, prose(d, 12)}}))})
		}},
		{"long", func(d drawer, text string) []byte {
			return marshal(map[string]any{"stdout": log(d, 400) + "\n" + text + "\n" + log(d, 400)})
		}},
	}
}

func marshal(v any) []byte {
	b, err := runtypes.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// plant is a document with a secret in it.
type plant struct {
	kind, place string
	secret      string
	doc         []byte
}

// around is how a token stands in a line.
var around = []string{"%s\n", "the key is %s, I think\n", "x = \"%s\"\n", "('%s')\n", "curl https://x.test -d k=%s\n", "value: %s\n", "see <%s>.\n", "\t%s\n"}

// tokens plants each kind in each place.
func tokens(d drawer, each int) (all []plant) {
	for _, k := range prefixed() {
		for _, p := range places() {
			for range each {
				secret := d.fill(k.template)
				text := fmt.Sprintf(around[d.IntN(len(around))], secret)
				all = append(all, plant{k.name, p.name, secret, p.doc(d, text)})
			}
		}
		secret := d.fill(k.template) // a map's key
		all = append(all, plant{k.name, "key", secret, marshal(map[string]any{"seen": map[string]any{secret: true}})})
	}
	return all
}

// assignments plants each form in each place that can take it.
func assignments(d drawer, forms []form, each int) (all []plant) {
	for _, f := range forms {
		for _, p := range places() {
			for range each {
				secret := f.value(d)
				text := strings.Replace(f.text, "%s", secret, 1)
				doc := p.doc(d, text)
				if f.json && d.IntN(2) == 0 {
					doc = marshal(map[string]any{"tool_response": json.RawMessage(text)})
				}
				all = append(all, plant{f.name, p.name, secret, doc})
			}
		}
	}
	return all
}

// left reports whether a part of the secret that is of use is still there.
func (p plant) left(doc []byte) bool {
	secret := p.secret
	if _, body, ok := strings.Cut(secret, "-----\n"); ok {
		secret, _, _ = strings.Cut(body, "\n")
	}
	half := max(6, len(secret)/2)
	if len(secret) <= half {
		return strings.Contains(string(doc), secret)
	}
	return strings.Contains(string(doc), secret[:half]) || strings.Contains(string(doc), secret[len(secret)-half:])
}
