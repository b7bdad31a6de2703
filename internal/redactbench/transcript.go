package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tracesmith/tracesmith/internal/redactbench/plant"
	"github.com/tracesmith/tracesmith/runtypes"
)

// place is where in a transcript a text with a secret stands.
type place struct {
	name string
	doc  func(d plant.Drawer, text string) []byte
}

// places are those in which agents meet secrets.
func places() []place {
	return []place{
		{"prompt", func(d plant.Drawer, text string) []byte {
			return marshal(map[string]any{"role": "user", "content": "Please look at this, it fails since Monday:\n\n" + text + "\nWhat is wrong with it?"})
		}},
		{"command", func(d plant.Drawer, text string) []byte {
			return marshal(map[string]any{"tool": "bash", "input": map[string]any{"command": "cd app && cat <<'EOF' > .env\n" + text + "\nEOF\n", "timeout": 120000}})
		}},
		{"output", func(d plant.Drawer, text string) []byte {
			return marshal(map[string]any{"tool_response": map[string]any{"stdout": prose(d, 40) + "\n" + text + "\n" + prose(d, 40), "exit_code": 0}})
		}},
		{"file", func(d plant.Drawer, text string) []byte {
			return marshal(map[string]any{"file_path": "/home/dev/app/settings.py", "content": "import os\n\nDEBUG = True\n" + text + "\nPORT = 8080\n"})
		}},
		{"diff", func(d plant.Drawer, text string) []byte {
			lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
			return marshal(map[string]any{"patch": "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n context\n+" + strings.Join(lines, "\n+") + "\n context\n"})
		}},
		{"escaped", func(d plant.Drawer, text string) []byte {
			return marshal(map[string]any{"result": string(marshal(map[string]any{"log": []string{prose(d, 12), text, prose(d, 12)}}))})
		}},
		{"long", func(d plant.Drawer, text string) []byte {
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

// planted is a document with a secret in it.
type planted struct {
	plant.Text
	place string
	doc   []byte
}

// around is how a token stands in a line.
var around = []string{"%s\n", "the key is %s, I think\n", "x = \"%s\"\n", "('%s')\n", "curl https://x.test -d k=%s\n", "value: %s\n", "see <%s>.\n", "\t%s\n"}

// tokens plants each kind in each place.
func tokens(d plant.Drawer, each int) (all []planted) {
	for _, k := range plant.Prefixed() {
		for _, p := range places() {
			for range each {
				secret := d.Fill(k.Template)
				text := fmt.Sprintf(around[d.IntN(len(around))], secret)
				all = append(all, planted{plant.Text{Kind: k.Name, Body: text, Secret: secret}, p.name, p.doc(d, text)})
			}
		}
		secret := d.Fill(k.Template) // a map's key
		all = append(all, planted{plant.Text{Kind: k.Name, Body: secret, Secret: secret}, "key", marshal(map[string]any{"seen": map[string]any{secret: true}})})
	}
	return all
}

// assignments plants each form in each place that can take it.
func assignments(d plant.Drawer, forms []plant.Form, each int) (all []planted) {
	for _, f := range forms {
		for _, p := range places() {
			for range each {
				secret := f.Value(d)
				text := strings.Replace(f.Text, "%s", secret, 1)
				doc := p.doc(d, text)
				if f.JSON && d.IntN(2) == 0 {
					doc = marshal(map[string]any{"tool_response": json.RawMessage(text)})
				}
				all = append(all, planted{plant.Text{Kind: f.Name, Body: text, Secret: secret}, p.name, doc})
			}
		}
	}
	return all
}
