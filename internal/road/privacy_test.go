//go:build linux

package road

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/redactbench/plant"
)

// shingle is how much of what was said may not be sent, in bytes.
const shingle = 12

// wiretap is a LangSmith, another that takes spans, and all that was sent to the two.
type wiretap struct {
	server, spans *ingest.Server
	mu            sync.Mutex
	parts         [][]byte
}

func tap(t *testing.T) *wiretap {
	t.Helper()
	w := &wiretap{}
	w.server, w.spans = w.listen(t), w.listen(t)
	return w
}

func (w *wiretap) listen(t *testing.T) *ingest.Server {
	t.Helper()
	server, err := ingest.Start(ingest.Config{Key: "key", Observe: w.observe}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Close(ctx)
	})
	return server
}

// observe takes a request apart; one that is neither multipart nor of spans is kept whole.
func (w *wiretap) observe(r *http.Request, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "application/x-protobuf" {
		for _, text := range spanTexts(body) {
			w.parts = append(w.parts, []byte(text))
		}
		return
	}
	form := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for params["boundary"] != "" {
		part, err := form.NextPart()
		if err != nil {
			return
		}
		text, _ := io.ReadAll(part)
		w.parts = append(w.parts, text)
	}
	w.parts = append(w.parts, bytes.Clone(body))
}

// raw is all that was sent, and forgets it.
func (w *wiretap) raw() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := bytes.Join(w.parts, []byte("\n"))
	w.parts = nil
	return all
}

// said are the texts that were sent, at every key, and the keys.
func (w *wiretap) said(t *testing.T) []string {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var texts []string
	for _, part := range w.parts {
		var v any
		if err := json.Unmarshal(part, &v); err != nil {
			texts = append(texts, string(part)) // a file, or anything else that is no JSON
			continue
		}
		walk(v, true, func(_, text string) { texts = append(texts, text) })
	}
	w.parts = nil
	return texts
}

// walk visits the texts of a document with the nearest key above them.
func walk(v any, keys bool, visit func(key, text string)) {
	var down func(key string, v any)
	down = func(key string, v any) {
		switch v := v.(type) {
		case string:
			visit(key, v)
		case []any:
			for _, each := range v {
				down(key, each)
			}
		case map[string]any:
			for k, each := range v {
				if keys {
					visit("", k)
				}
				down(k, each)
			}
		}
	}
	down("", v)
}

// content are the texts of the recording that nobody may see: what its runs carry in
// full, and what hooks were told of prompts, replies and tools. names are those of
// things, which stay.
func content(t *testing.T, dir, home string) (texts []string, names string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "runs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var runs []struct {
		Name                                string
		Inputs, Outputs, Error, Events, ID  any
		Extra                               struct{ Metadata map[string]any }
		TraceID, ParentRunID, StartTime, DO string
	}
	if err := json.Unmarshal(bytes.ReplaceAll(raw, []byte("/home/dev"), []byte(home)), &runs); err != nil {
		t.Fatal(err)
	}
	add := func(_, text string) { texts = append(texts, text) }
	var named []string
	for _, run := range runs {
		for _, said := range []any{run.Inputs, run.Outputs, run.Error} {
			walk(said, false, add)
		}
		for key, v := range run.Extra.Metadata {
			switch key {
			case "agent_name", "retry_reason": // were said by a model or a server
				walk(v, false, add)
			default:
				named = append(named, fmt.Sprint(v))
			}
		}
	}
	for _, name := range []string{"hooks.jsonl", "events.jsonl"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		for line := range bytes.Lines(bytes.ReplaceAll(raw, []byte("/home/dev"), []byte(home))) {
			var v any
			if json.Unmarshal(line, &v) == nil {
				walk(v, false, func(key, text string) {
					switch key {
					case "prompt", "command", "content", "text", "thinking", "stdout", "stderr", "new_string", "old_string",
						"last_assistant_message", "output", "title", "description", "message", "query", "error":
						add(key, text)
					}
				})
			}
		}
	}
	return texts, strings.Join(named, "\n")
}

// fixed are the words that every request has.
const fixed = `
Interrupted by user
Interrupted: the process ended
Interrupted: the session ended
` + "parent_run_id dotted_order session_name invocation_params gen_ai.conversation.id input_token_details output_token_details cache_creation ephemeral_1h_input_tokens ephemeral_5m_input_tokens cache_read sdk_version tracesmith"

// shingles are the pieces of what was sent, but for those in names, with the text that
// each is in.
func shingles(said []string, names string) map[string]string {
	grams := map[string]string{}
	for _, text := range said {
		if _, err := time.Parse(time.RFC3339Nano, text); err == nil {
			continue // when a run was, which a transcript says as well
		}
		for i := 0; i+shingle <= len(text); i++ {
			if gram := text[i : i+shingle]; !strings.Contains(names, gram) {
				grams[gram] = text
			}
		}
	}
	return grams
}

func TestNothingThatWasSaidIsInTheBytesOfMetadata(t *testing.T) {
	w := tap(t)
	recordings, sent, compared := 0, 0, 0
	each(t, func(t *testing.T, r recorded) {
		planted := &planter{texts: plant.Texts(plant.New(7)), used: map[int]bool{}}
		change := planted.document
		if r.agent != nil {
			change = nil // their texts are long enough as they are
		}
		home := w.play(t, r, "metadata", change)
		said := w.said(t)
		for n := range planted.used {
			if all := strings.Join(said, "\n"); strings.Contains(all, mark(n)) {
				t.Errorf("%q was said and sent", mark(n))
			}
		}
		recordings++
		sent += len(said)
		secret, names := content(t, r.dir, home)
		grams := shingles(said, names+fixed+home)
		for _, text := range secret {
			for i := 0; i+shingle <= len(text); i++ {
				compared++
				if where, leaked := grams[text[i:i+shingle]]; leaked {
					t.Errorf("%q was said and is in %q", text[i:i+shingle], where)
					break
				}
			}
		}
	})
	t.Logf("%d recordings, %d texts sent, %d pieces compared", recordings, sent, compared)
	if recordings < 200 || sent < 10_000 || compared < 100_000 {
		t.Errorf("too little was looked at")
	}
	if len(w.spans.Memory().Runs()) < recordings {
		t.Errorf("%d runs came as spans", len(w.spans.Memory().Runs()))
	}
	for _, run := range append(w.server.Memory().Runs(), w.spans.Memory().Runs()...) {
		if len(run.Inputs)+len(run.Outputs)+len(run.Events) > 0 && !bytes.Equal(run.Inputs, []byte("{}")) && len(run.Inputs) > 0 {
			t.Fatalf("a run has inputs: %s", run.Inputs)
		}
		if run.Metadata()["capture_level"] != "metadata" || run.Metadata()["ls_tracing_mode"] != "metadata" {
			t.Fatalf("%v", run.Metadata())
		}
	}
}
