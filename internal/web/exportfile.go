package web

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/runtypes"
)

// maxExport bounds the texts of an exported turn, in bytes.
const maxExport = 16 << 20

// export is a turn as one file of HTML, to be read anywhere.
//
// It is written by hand rather than by html/template: that package calls methods by
// their names, and with it the linker keeps every exported method of the program. Here
// everything goes through html.EscapeString and stands between tags or in quotes.
func (h *Handler) export(w http.ResponseWriter, r *http.Request) error {
	trace, err := id(r.PathValue("id"))
	if err != nil {
		return err
	}
	summary, err := h.cfg.Store.Summary(r.Context(), trace)
	if err != nil {
		return err
	}
	p := &page{left: maxExport, start: summary.Start}
	if p.rules, p.pass, err = h.cfg.Redaction(); err != nil {
		refuse(w, http.StatusInternalServerError, "the settings cannot be read: see tracesmith doctor")
		return nil
	}
	text, err := h.document(r.Context(), p, summary)
	if err != nil {
		return err
	}
	attach(w, "turn-"+trace+".html", "text/html; charset=utf-8", text)
	return nil
}

const exportHead = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem; overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; margin: .3rem 0; padding: .5rem .7rem; border-left: 3px solid #8886; font-size: 13px }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem }
dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: isolate }
details { margin: .25rem 0 }
summary { cursor: pointer; overflow-wrap: anywhere }
summary span { opacity: .75 }
.children { margin-left: 1.2rem; border-left: 1px solid #8884; padding-left: .6rem }
.error { color: #b3261e; font-weight: 600 }
@media (prefers-color-scheme: dark) { .error { color: #ffb4ab } }
h3 { font-size: .85rem; margin: .5rem 0 0; opacity: .75 }
</style>
`

// page is an exported turn in the making.
type page struct {
	strings.Builder
	rules redact.Rules
	pass  redact.Pass
	left  int // bytes of content that there still is room for
	start time.Time
}

// document writes a turn. What cannot be redacted ends it.
func (h *Handler) document(ctx context.Context, p *page, turn store.Summary) (string, error) {
	heads, err := h.cfg.Store.Heads(ctx, turn.TraceID)
	if err != nil {
		return "", err
	}
	p.WriteString(exportHead)
	title := turn.Title
	if title == "" {
		title = turn.Name
	}
	p.element("title", title)
	p.WriteString("</head>\n<body>\n")
	p.element("h1", title)
	p.facts(turn)
	for _, head := range heads {
		if head.Error != "" {
			p.WriteString(`<p class="error">`)
			p.say(head.Name + ": " + head.Error)
			p.WriteString("</p>\n")
		}
	}
	depth := 0
	for _, head := range heads {
		level := strings.Count(head.DottedOrder, ".")
		for ; depth > level; depth-- {
			p.WriteString("</div>\n")
		}
		for ; depth < level; depth++ {
			p.WriteString(`<div class="children">` + "\n")
		}
		if err := h.detail(ctx, p, head); err != nil {
			return "", err
		}
	}
	p.WriteString(strings.Repeat("</div>\n", depth) + "</body>\n</html>\n")
	return p.String(), nil
}

// say writes a text: redacted, then cut, since half a secret looks like none; escaped.
func (p *page) say(text string) {
	p.WriteString(html.EscapeString(cut(p.pass.Text(p.rules.Text(text)), maxRunError)))
}

func (p *page) element(name, text string) {
	p.WriteString("<" + name + ">")
	p.say(text)
	p.WriteString("</" + name + ">\n")
}

func (p *page) facts(t store.Summary) {
	p.WriteString("<dl>\n")
	for _, fact := range [][2]string{
		{"agent", t.Agent}, {"repository", t.Repo}, {"branch", t.Branch}, {"started", t.Start.UTC().Format(time.RFC3339)},
		{"took", took(t.Start, t.End)}, {"model", t.Model}, {"tokens", spent(t.Tokens)}, {"cost", price(t.Cost)}, {"runs", fmt.Sprint(t.Runs)},
		{"captured", t.Level}, {"thread", t.Thread}, {"trace", t.TraceID},
	} {
		if fact[1] != "" {
			p.element("dt", fact[0])
			p.element("dd", fact[1])
		}
	}
	p.WriteString("</dl>\n")
}

func took(start, end time.Time) string {
	if end.IsZero() {
		return "still running"
	}
	return end.Sub(start).Round(time.Millisecond).String()
}

func spent(t store.Tokens) string {
	var parts []string
	for _, kind := range []struct {
		n    *int64
		name string
	}{{t.Input, "in"}, {t.Output, "out"}, {t.CacheRead, "read from cache"}, {t.CacheWrite, "written to cache"}} {
		if kind.n != nil {
			parts = append(parts, fmt.Sprintf("%d %s", *kind.n, kind.name))
		}
	}
	return strings.Join(parts, ", ")
}

// price is what a turn cost; what has no price is named.
func price(c store.Cost) string {
	var parts []string
	if c.Dollars != nil {
		parts = append(parts, fmt.Sprintf("$%.4f", *c.Dollars))
	}
	if len(c.Unpriced) > 0 {
		parts = append(parts, "unpriced: "+strings.Join(c.Unpriced, ", "))
	}
	return strings.Join(parts, " and ")
}

// ending is how a run with an error ended.
func ending(h store.Head) string {
	if h.Meta["ls_is_error_interrupt"] == true {
		return "interrupted"
	}
	return "failed"
}

// detail writes one run, folded unless it is what a reader looks for: the turn itself, or
// what failed.
func (h *Handler) detail(ctx context.Context, p *page, head store.Head) error {
	wire, err := h.cfg.Store.Run(ctx, head.TraceID, head.ID)
	if err != nil {
		return err
	}
	if head.ParentRunID == "" || head.Error != "" {
		p.WriteString("<details open><summary>")
	} else {
		p.WriteString("<details><summary>")
	}
	p.say(string(head.Kind()) + " " + head.Name)
	p.WriteString(" <span>")
	facts := []string{"+" + head.Start.Sub(p.start).Round(time.Millisecond).String(), took(head.Start, head.End)}
	if text := spent(head.Tokens); text != "" {
		facts = append(facts, text)
	}
	if head.Waiting > 0 {
		facts = append(facts, "waited "+head.Waiting.String())
	}
	p.say(strings.Join(facts, " · "))
	p.WriteString("</span>")
	if head.Error != "" {
		p.WriteString(` <span class="error">` + ending(head) + `</span>`)
	}
	p.WriteString("</summary>\n")
	metadata, err := json.Marshal(head.Meta)
	if err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		raw  json.RawMessage
	}{{"inputs", wire.Inputs}, {"outputs", wire.Outputs}} {
		if err := p.part(part.name, part.raw); err != nil {
			return err
		}
	}
	p.WriteString("<details><summary>metadata</summary>\n")
	if err := p.part("", metadata); err != nil {
		return err
	}
	p.WriteString("</details>\n</details>\n")
	return nil
}

// part writes a run's inputs, outputs or metadata: what was said as messages, anything
// else as JSON.
func (p *page) part(name string, raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	clean, err := p.rules.JSON(raw)
	if err == nil {
		clean, err = p.pass.JSON(clean)
	}
	if err != nil {
		return err
	}
	v, err := decode(clean)
	if err != nil {
		return err
	}
	short := shortener{text: maxText, all: p.left}
	v = short.value(v)
	p.left = short.all
	if name != "" {
		p.WriteString("<h3>" + name + "</h3>\n")
	}
	if object, ok := v.(map[string]any); ok && len(object) == 1 {
		if messages, ok := object["messages"].([]any); ok {
			for _, message := range messages {
				p.message(message)
			}
			return nil
		}
	}
	p.json(v)
	return nil
}

func (p *page) message(v any) {
	m, _ := v.(map[string]any)
	role, _ := m["role"].(string)
	content, plain := m["content"].(string)
	if role == "" || !plain || len(m) > 2 {
		p.json(v)
		return
	}
	p.element("h3", role)
	p.WriteString("<pre>")
	p.WriteString(html.EscapeString(content)) // it was redacted with the whole
	p.WriteString("</pre>\n")
}

func (p *page) json(v any) {
	text, err := runtypes.Marshal(v)
	if err == nil {
		text, err = indented(text)
	}
	if err != nil { // it was decoded from JSON
		return
	}
	p.WriteString("<pre>" + html.EscapeString(string(text)) + "</pre>\n")
}
