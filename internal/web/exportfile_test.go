package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/internal/web"
	"github.com/tracesmith/tracesmith/runtypes"
)

// hostile is what somebody might have a model say.
const hostile = `</pre></title></style><script>alert(1)</script><img src=x onerror=alert(2)>"'><a href="javascript:alert(3)">x</a>` +
	`<svg/onload=alert(4)><iframe srcdoc="x"></iframe><meta http-equiv=refresh content="0;url=//evil">--><![CDATA[x]]>&lt;b&gt;` + "\x00\u202e\u2028"

// harmless checks that a document is text: no element but those an export is made of, no
// attribute but classes and those of its head, as a browser's parser sees it.
func harmless(t *testing.T, text string) (said string) {
	t.Helper()
	allowed := map[string][]string{
		"html": {"lang"}, "head": nil, "meta": {"charset", "http-equiv", "content", "name"}, "style": nil, "title": nil, "body": nil,
		"h1": nil, "h3": nil, "dl": nil, "dt": nil, "dd": nil, "p": {"class"}, "div": {"class"}, "details": {"open"}, "summary": nil,
		"span": {"class"}, "pre": nil,
	}
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	metas := 0
	for node := range doc.Descendants() {
		switch node.Type {
		case html.TextNode:
			said += node.Data
		case html.CommentNode:
			t.Errorf("a comment: %.100s", node.Data)
		case html.ElementNode:
			attributes, ok := allowed[node.Data]
			if !ok {
				t.Errorf("an element <%s>", node.Data)
			}
			for _, a := range node.Attr {
				if !slices.Contains(attributes, a.Key) {
					t.Errorf("<%s %s=%q>", node.Data, a.Key, a.Val)
				}
			}
			if node.Data == "meta" {
				metas++
			}
		}
	}
	if metas != 4 || !strings.Contains(text, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`) {
		t.Errorf("%d meta elements", metas)
	}
	if style := regexp.MustCompile(`(?s)<style>.*?</style>`).FindString(text); strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("the style loads something")
	}
	return said
}

func TestAnExportedTurnIsTextAndNothingElse(t *testing.T) {
	w := newWorld(t, web.Config{})
	root, llm, tool := turn("th", 1, noon, hostile)
	root.Name, root.Error, root.Tags = hostile, hostile, []string{hostile}
	llm.Model.Name, llm.Name = hostile, hostile
	llm.Outputs = runtypes.Messages(runtypes.Message{Role: hostile, Content: hostile})
	tool.Metadata = map[string]any{hostile: hostile}
	tool.Inputs, _ = json.Marshal(map[string]any{hostile: []any{hostile, map[string]any{"x": hostile}}})
	tool.Outputs, _ = json.Marshal(map[string]any{"messages": []any{hostile, 1, nil, map[string]any{"role": hostile, "content": []any{hostile}}}})
	root.Identity.Repo = runtypes.Repo{URL: hostile, Branch: hostile}
	w.put(t, runtypes.Post, root, llm, tool)
	text, header := w.do(t, w.request(t, "/api/traces/"+root.ID.String()+"/export.html"), http.StatusOK)
	if got, want := header.Get("Content-Disposition"), `attachment; filename="turn-`+root.ID.String()+`.html"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if said := harmless(t, text); strings.Count(said, "<script>alert(1)</script>") < 10 {
		t.Errorf("what was said is missing: %s", said)
	}
}

func TestAnExportIsRedactedOnceMore(t *testing.T) {
	var rules redact.Rules
	var unreadable error
	w := newWorld(t, web.Config{Redaction: func() (redact.Rules, redact.Pass, error) { return rules, redact.Pass{}, unreadable }})
	rules = redact.Rules{{Pattern: regexp.MustCompile("BLUEBIRD"), With: "[codename]"}} // while the page is up
	// As a store holds it that was written with redaction off.
	key := "ghp_" + "016C7nHq5XyKAzdtV4mJ9wB2sRfLgE1uPoQc"
	root, llm, tool := turn("th", 1, noon, "the token is "+key+" of BLUEBIRD")
	tool.Inputs, _ = json.Marshal(map[string]string{"password": "correct-horse-7", "name": "BLUEBIRD"})
	tool.Error, tool.Name = "refused "+key, "BLUEBIRD "+key
	w.put(t, runtypes.Post, root, llm, tool)
	text := w.get(t, "/api/traces/"+root.ID.String()+"/export.html", http.StatusOK)
	for _, secret := range []string{key, "correct-horse-7", "BLUEBIRD"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in it", secret)
		}
	}
	if said := harmless(t, text); !strings.Contains(said, "[redacted:") || !strings.Contains(said, "[codename]") {
		t.Error(said)
	}
	unreadable = errors.New("settings")
	if text := w.get(t, "/api/traces/"+root.ID.String()+"/export.html", http.StatusInternalServerError); !strings.Contains(text, "doctor") {
		t.Error(text)
	}
}

func TestAnExportHasABound(t *testing.T) {
	w := newWorld(t, web.Config{})
	root, llm, tool := turn("th", 1, noon, "x")
	tool.Outputs, _ = json.Marshal(map[string]string{"output": strings.Repeat("x", 10<<20)})
	w.put(t, runtypes.Post, root, llm, tool)
	if text := w.get(t, "/api/traces/"+root.ID.String()+"/export.html", http.StatusOK); len(text) > 1<<20 || !strings.Contains(text, "10485760") {
		t.Errorf("%d bytes", len(text))
	}
}

func TestAnExportShowsNoHalfOfASecretWhereItCutsAText(t *testing.T) {
	w := newWorld(t, web.Config{})
	root, _, tool := turn("th", 1, noon, "x")
	key := "ghp_" + "016C7nHq5XyKAzdtV4mJ9wB2sRfLgE1uPoQc"
	tool.Error = strings.Repeat("refused ", 509) + key // 4 KiB end within the key
	w.put(t, runtypes.Post, root, tool)
	if text := w.get(t, "/api/traces/"+root.ID.String()+"/export.html", http.StatusOK); strings.Contains(text, key[:12]) {
		t.Error("the beginning of a key is in it")
	}
}
