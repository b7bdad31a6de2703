package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestAPromptOfAMegabyteFitsItsRow(t *testing.T) {
	site := newSite(t)
	long := strings.Repeat("verylong", 128<<10)
	u := newTurn(t, "thread", 1, time.Now().Add(-time.Minute), long)
	u.model(9_000, long)
	u.add(u.trace(), long, "tool", time.Second, nil, nil, map[string]any{"ls_tool_name": long, "note": long})
	u.fails(long)
	site.put(u.done(long)...)
	b := newTab(t)
	for _, view := range []string{"#/threads", "#/turns", "#/thread/thread", "#/turn/" + u.trace(), "#/totals?by=thread"} {
		for _, width := range []int64{1280, 390} {
			b.look(width, 800, "light")
			site.open(b, view)
			b.until(view+" is filled", "document.querySelector('.row, .rows > .trow:nth-child(3), .numbers td')")
			if got := eval[int64](b, "document.documentElement.scrollWidth"); got > width {
				t.Errorf("%s is %d pixels wide in a window of %d", view, got, width)
			}
			if n := eval[int](b, "document.body.textContent.length"); n > 40_000 {
				t.Errorf("%s shows %d characters", view, n)
			}
		}
	}
}

// A text may hold characters that turn the direction of what follows them, or that no
// screen has.
func TestATextKeepsItsDirectionToItself(t *testing.T) {
	const turned = "\u202eevil\u2066 שלום \u0000\u0007\u001b[31m"
	site := newSite(t)
	u := newTurn(t, turned, 1, time.Now().Add(-time.Minute), turned)
	u.repo = "https://example.com/" + turned
	u.tool(turned, map[string]any{"command": turned}, turned, 0)
	u.fails(turned)
	site.put(u.done(turned)...)
	b := newTab(t)
	site.open(b, "#/threads")
	b.reads(".row .title", "evil")
	const isolated = `[...document.querySelectorAll(%q)].filter((e) => !/isolate|plaintext/.test(getComputedStyle(e).unicodeBidi)).map((e) => e.className || e.tagName).join(", ")`
	for view, parts := range map[string]string{
		"#/threads": ".row .title, .row .facts > span", "#/turns": ".row .title, .row .facts > span", "#/thread/" + strings.ReplaceAll(jsString(turned), "%5C", ""): "h1, .row .title, .facts > span",
		"#/turn/" + u.trace(): "h1, .failures button span, .tname .label, .facts > span, .text",
	} {
		site.open(b, view)
		b.until(view+" is filled", "document.querySelector('.row, .rows > .trow')")
		if got := eval[string](b, fmt.Sprintf(isolated, parts)); got != "" {
			t.Errorf("%s: what turns the text around it: %s", view, got)
		}
	}
}

// jsString is a text as a part of an address.
func jsString(text string) string {
	var out strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&out, "%%%02X", text[i])
	}
	return out.String()
}

func TestATurnOfFiveThousandRunsTwoHundredDeepIsFluid(t *testing.T) {
	site := newSite(t)
	u := newTurn(t, "thread", 1, time.Now().Add(-2*time.Hour), "Do very much")
	parent := u.trace()
	for range 200 {
		parent = u.add(parent, "step", "chain", 10*time.Millisecond, nil, nil, nil)
	}
	for i := range 4800 {
		u.add(u.trace(), fmt.Sprint("tool ", i), "tool", 10*time.Millisecond, nil, nil, map[string]any{"ls_tool_name": "Bash"})
	}
	site.put(u.done("Done.")...)
	b := newTab(t)
	began := time.Now()
	site.open(b, "#/turn/"+u.trace())
	b.until("it is open", "document.querySelectorAll('.rows > .trow').length > 0")
	t.Logf("open after %s", time.Since(began).Round(time.Millisecond))
	eval[any](b, "document.querySelector('.twisty:not(.none)')?.click()")
	b.until("it is unfolded", "document.querySelectorAll('.rows > .trow').length > 5")
	if n := eval[int](b, "document.querySelectorAll('.trow').length"); n > 100 {
		t.Errorf("%d rows exist at once", n)
	}
	longest := eval[float64](b, `(async () => {
		const s = document.querySelector('.tree');
		let longest = 0;
		for (let i = 0; i < 40; i++) {
			const begin = performance.now();
			s.scrollTop = (i * 3571) % s.scrollHeight;
			await new Promise((go) => requestAnimationFrame(() => setTimeout(go, 0)));
			longest = Math.max(longest, performance.now() - begin);
		}
		return longest;
	})()`)
	t.Logf("the longest step of scrolling took %.0f ms", longest)
	if longest > 1000 {
		t.Errorf("scrolling stood still for %.0f ms", longest)
	}
	eval[any](b, "document.querySelector('.tree').scrollTop = 150 * 30")
	b.until("the depths are drawn", "[...document.querySelectorAll('.rows > .trow')].some((r) => Number(r.getAttribute('aria-level')) > 140)")
	if got := eval[string](b, `[...document.querySelectorAll('.rows > .trow')].filter((r) => r.querySelector('.label').getBoundingClientRect().left > r.querySelector('.lane').getBoundingClientRect().left).length`+`+""`); got != "0" {
		t.Errorf("%s labels of deep runs are out of sight", got)
	}
}

// What is stored may be any JSON, and a clock may be wrong.
func TestOddRunsAreShownAllTheSame(t *testing.T) {
	site := newSite(t)
	u := newTurn(t, `it's "quoted" & <odd>`, 1, time.Now().Add(48*time.Hour), "From the future")
	for _, odd := range []string{`null`, `[]`, `"text"`, `7`, `{"messages":null}`, `{"messages":[null,1,"x",{"role":null},{"content":{}},[]]}`,
		`{"messages":{"role":"user"}}`, `{"output":null}`, `{"":{"":[{}]}}`, `{"__proto__":{"x":1},"constructor":1}`, `true`} {
		u.add(u.trace(), "", "llm", time.Second, json.RawMessage(odd), json.RawMessage(odd), map[string]any{
			"usage_metadata": map[string]any{"input_tokens": "many", "output_tokens": -5}, "tags": odd, "permission_wait_ms": "long",
		})
	}
	site.put(u.runs...)
	b := newTab(t)
	site.open(b, "#/threads")
	b.reads(".row", "From the future")
	b.click(".row a")
	b.reads("h1", "From the future")
	b.click(".row a")
	b.until("all runs", fmt.Sprintf("document.querySelectorAll('.rows > .trow').length === %d", len(u.runs)))
	b.until("the tree has the focus", "document.activeElement.matches('[role=row]')")
	for range u.runs[1:] {
		b.keys("j")
		for _, name := range []string{"Metadata", "JSON", "Messages"} {
			b.click("#tab-" + name)
			b.until("the panel is filled", "document.getElementById('panel').textContent.length > 0")
		}
		eval[any](b, "document.querySelector('.rows > .trow.active').focus()")
	}
	if text := b.text("main"); strings.Contains(text, "NaN") || strings.Contains(text, "undefined") || strings.Contains(text, "[object") {
		t.Errorf("the page reads %s", text)
	}
	for _, address := range []string{"#/turn/nonsense", "#/turn/%E0%A4%A", "#/thread/%", "#/nowhere/at/all", "#/turns?since=yesterday&agent=" + strings.Repeat("x", 2000)} {
		b.expect("status of 40")
		site.open(b, address)
		b.until(address+" says something", "document.querySelector('.note, .row')?.textContent.length > 10 && !document.getElementById('main').innerText.includes('Loading…')")
	}
}

// Nothing leads to runs that are one another's parents; they are shown nevertheless.
func TestRunsInACircleAreShown(t *testing.T) {
	site := newSite(t)
	u := newTurn(t, "thread", 1, time.Now().Add(-time.Minute), "Go round")
	one := u.tool("Round", map[string]any{}, "and", 0)
	two := u.tool("About", map[string]any{}, "round", 0)
	u.runs[1].ParentRunID, u.runs[2].ParentRunID = two, one
	site.put(u.done("Dizzy.")...)
	b := newTab(t)
	site.open(b, "#/turn/"+u.trace()+"?run="+two)
	b.until("all rows", "document.querySelectorAll('.rows > .trow').length === 3")
	b.reads(".run-head h2", "About")
}
