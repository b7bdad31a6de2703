//go:build linux

package road

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"testing"

	"github.com/tracesmith/tracesmith/internal/redactbench/plant"
)

// planter hides secrets in what people, models and tools say. Which one is decided by
// the text that it is put into: what a hook and a transcript both tell stays the same.
type planter struct {
	texts []plant.Text
	used  map[int]bool
}

// said are the keys under which agents have such texts.
var saidKeys = []string{
	"prompt", "command", "content", "text", "thinking", "stdout", "stderr", "new_string", "old_string", "newString", "oldString",
	"last_assistant_message", "last_agent_message", "output", "title", "description", "message", "query", "error", "arguments",
	"aggregated_output", "formatted_output", "patch", "diff", "delta", "result", "response", "input", "tool_output", "summary",
	"question", "answer", "raw", "url", "pattern", "reason", "value", "snapshot",
}

// pathKeys are those of names of files.
var pathKeys = []string{"file_path", "filePath", "notebook_path", "path"}

// minSaid is the shortest text that a secret is put into: what is shorter may be a word
// of the protocol.
const minSaid = 12

// document plants in a JSON document; what is none is returned as it is.
func (p *planter) document(doc []byte) []byte {
	if !json.Valid(doc) {
		return doc
	}
	var out []byte
	key := ""
	for len(doc) > 0 {
		open := bytes.IndexByte(doc, '"')
		if open < 0 {
			break
		}
		end := open + 1
		for doc[end] != '"' {
			if doc[end] == '\\' {
				end++
			}
			end++
		}
		literal := doc[open : end+1]
		out, doc = append(out, doc[:open]...), doc[end+1:]
		var text string
		_ = json.Unmarshal(literal, &text) // it is valid
		switch rest := bytes.TrimLeft(doc, " \t\r\n"); {
		case len(rest) > 0 && rest[0] == ':':
			key = text
		case len(text) >= minSaid && (slices.Contains(saidKeys, key) || slices.Contains(pathKeys, key)):
			literal = quoted(p.plant(key, text))
		}
		out = append(out, literal...)
	}
	return append(out, doc...)
}

// plant returns a text with a secret in it, beside a mark by which it is found again.
func (p *planter) plant(key, text string) string {
	if inner := bytes.TrimSpace([]byte(text)); len(inner) > 0 && (inner[0] == '{' || inner[0] == '[') && json.Valid(inner) {
		return string(p.document(inner))
	}
	hash := fnv.New32a()
	hash.Write([]byte(text))
	n := int(hash.Sum32() % uint32(len(p.texts)))
	if slices.Contains(pathKeys, key) {
		n %= 40 // tokens alone: a path has one line
		p.used[n] = true
		return text + "-" + p.texts[n].Secret
	}
	p.used[n] = true
	return fmt.Sprintf("%s\n%s\n%s", text, mark(n), p.texts[n].Body)
}

func mark(n int) string { return fmt.Sprintf("plant no. %d.", n) }

func quoted(text string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string always can be
	return bytes.TrimSpace(buf.Bytes())
}

func TestNoSecretThatWasPlantedIsInTheBytesOfFull(t *testing.T) {
	w := tap(t)
	texts := plant.Texts(plant.New(7))
	arrived := map[string]int{}
	recordings := 0
	each(t, func(t *testing.T, r recorded) {
		p := &planter{texts: texts, used: map[int]bool{}}
		w.play(t, r, "full", p.document)
		sent := w.raw()
		recordings++
		for n := range p.used {
			if texts[n].Left(sent) {
				t.Errorf("%s is in what was sent: %q", texts[n].Kind, texts[n].Body)
			}
			if bytes.Contains(sent, []byte(mark(n))) {
				arrived[texts[n].Kind]++
			}
		}
	})
	total := 0
	for _, n := range arrived {
		total += n
	}
	t.Logf("%d recordings, %d plants of %d kinds arrived", recordings, total, len(arrived))
	if recordings < 200 || total < 1000 || len(arrived) < 200 {
		t.Errorf("too little was planted")
	}
}
