package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// evil is what a transcript may try; every view has to show it as it is.
const evil = `<script>window.owned = 1</script><img src=x onerror="window.owned = 2"><svg onload="window.owned=3">` +
	`<a href="javascript:window.owned=4">here</a> javascript:window.owned=5 </textarea></pre>{{7*7}}`

func TestATranscriptFullOfScriptsIsTextAndRunsNothing(t *testing.T) {
	site := newSite(t)
	u := newTurn(t, `thread"/../<b>?#%00&x=1`, 1, time.Now().Add(-time.Minute), evil)
	u.model(100, evil)
	u.tool(evil, map[string]any{evil: evil, "command": evil}, evil, 0)
	u.fails(evil)
	u.tool("Edit", map[string]any{"file_path": evil, "old_string": evil, "new_string": evil + "\n" + evil}, "--- a\n+++ b\n@@ -1 +1 @@\n+"+evil, 0)
	u.add(u.trace(), evil, "tool", time.Second, map[string]any{"url": "javascript:window.owned=6"}, map[string]any{"output": map[string]any{evil: evil}},
		map[string]any{"ls_tool_name": evil, evil: evil, "link": "javascript:window.owned=7", "data": "data:text/html," + evil, "site": "https://example.com/\"onclick=1"})
	u.add(u.trace(), "Claude", "llm", time.Second, messages("user", []any{evil, nil, 7, map[string]any{"type": evil, "source": evil}}),
		messages(evil, []any{map[string]any{"type": "tool_call", "name": evil, "args": evil}, map[string]any{"type": "reasoning", "text": evil}}), nil)
	site.put(u.done(evil)...)

	b := newTab(t)
	scripts := ""
	b.shown(site, "#/threads", evil)
	scripts = eval[string](b, "String(document.scripts.length)")
	b.click(".row a")
	b.reads("h1", evil)
	b.click(".row a")
	b.until("all runs", fmt.Sprintf("document.querySelectorAll('.rows > .trow').length === %d", len(u.runs)))
	for range len(u.runs) {
		for _, name := range []string{"Messages", "Metadata", "JSON"} {
			b.click("#tab-" + name)
			b.until("the panel is filled", "document.getElementById('panel').textContent.length > 20")
			eval[any](b, "document.querySelectorAll('details').forEach((d) => { d.open = true; })")
		}
		b.click("#tab-Messages")
		eval[any](b, "document.querySelector('.rows > .trow.active')?.focus()")
		b.keys("j")
	}
	b.reads(".panel", "javascript:window.owned=5")
	b.click("#tab-Metadata")
	b.shown(site, "#/turns", evil)
	b.shown(site, "#/totals?by=thread", "")

	if eval[bool](b, "'owned' in window") {
		t.Error("a script in the transcript ran")
	}
	if got := eval[string](b, "String(document.scripts.length)"); got != scripts {
		t.Errorf("%s scripts in the document, %s at first", got, scripts)
	}
}

// shown goes to a view and looks for what must not be in it.
func (b *tab) shown(site *site, view, text string) {
	b.Helper()
	site.open(b, view)
	if text != "" {
		b.reads("#main", text)
	}
	b.until("the view is filled", "!document.getElementById('main').innerText.includes('Loading…')")
	for _, selector := range []string{"main img", "main script", "main iframe", "main object", "main b", "[href^=javascript]", "[href^=data]", "[onload],[onerror],[onclick]",
		"a[target]:not([rel~=noopener])"} {
		if n := eval[int](b, fmt.Sprintf("document.querySelectorAll(%q).length", selector)); n > 0 {
			b.Errorf("%s: %d elements match %s", view, n, selector)
		}
	}
}

func TestAnOutputOfTenMegabytesNeverFreezesThePage(t *testing.T) {
	const size = 10 << 20
	line := "the quick brown fox jumps over the lazy dog \u00e9\U0001f98a\n"
	output := strings.Repeat(line, size/len(line)) + "END-OF-OUTPUT"
	site := newSite(t)
	u := newTurn(t, "thread", 1, time.Now().Add(-time.Minute), "Print a lot")
	id := u.tool("Bash", map[string]any{"command": "yes"}, output, 0)
	u.tool("Bash", map[string]any{"command": "line"}, strings.Repeat("x", size), 0) // one line
	site.put(u.done("Printed.")...)

	b := newTab(t)
	site.open(b, "#/turn/"+u.trace()+"?run="+id)
	b.reads(".panel", "the quick brown fox")
	eval[any](b, `(() => {
		window.longest = 0;
		let last = performance.now();
		const tick = (now) => { window.longest = Math.max(window.longest, now - last); last = now; requestAnimationFrame(tick); };
		requestAnimationFrame(tick);
	})()`)
	if n := eval[int](b, "document.querySelector('.panel').textContent.length"); n > 20_000 {
		t.Errorf("%d characters are shown at once", n)
	}
	const press = "(() => { const more = document.querySelector('.panel .more-text:not([hidden]):not([disabled])'); more?.click(); return !more; })()"
	steps := 0
	for end := time.Now().Add(3 * patience); ; steps++ {
		all := eval[bool](b, press)
		if all && eval[bool](b, "document.querySelector('.panel').textContent.includes('END-OF-OUTPUT')") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the end never shows, after %d steps: %s", steps, eval[string](b, "document.querySelector('.panel .foot')?.innerText"))
		}
	}
	longest := eval[float64](b, "window.longest")
	t.Logf("all of %d bytes in %d steps; the page stood still for %.0f ms at most", len(output), steps, longest)
	if longest > 2000 {
		t.Errorf("the page stood still for %.0f ms", longest)
	}
	eval[any](b, "document.querySelector('.rows > .trow.active').focus()")
	b.keys("j")
	b.reads(".panel", "xxxx")
	b.click("#tab-JSON")
	b.reads(".panel", "dotted_order")
}
