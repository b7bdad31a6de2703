package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

func TestThePageIsUsedByKeyboardAlone(t *testing.T) {
	site := newSite(t)
	for i := range 3 {
		site.put(plain(t, fmt.Sprintf("other-%d", i), 1, time.Now().Add(-time.Duration(i)*time.Hour), "Something else").runs...)
	}
	begin := time.Now().Add(-48 * time.Hour)
	for i, prompt := range []string{"First prompt", "Second prompt", "Third prompt"} {
		u := newTurn(t, "thread", i+1, begin.Add(time.Duration(i)*time.Minute), prompt)
		u.model(9_000, "Working.")
		u.subagent("reviewer", 4_000)
		u.tool("Bash", map[string]any{"command": "false"}, "", 0)
		u.fails("Exit code 1")
		site.put(u.done("Done.")...)
	}
	b := newTab(t)
	site.open(b, "#/threads")
	b.until("the list is there", "document.querySelectorAll('.row').length === 4")
	b.keys("j", "j", "j", "j")
	b.focus("First prompt")
	b.keys(kb.Enter)
	b.until("the thread's turns", "document.querySelectorAll('.row.turn').length === 3")
	b.keys("]", "]")
	b.focus("Second prompt")
	b.keys("[")
	b.focus("First prompt")
	b.keys(kb.Enter)

	rows := func(n int) {
		t.Helper()
		b.until(fmt.Sprint(n, " rows"), fmt.Sprintf("document.querySelectorAll('.rows > .trow').length === %d", n))
	}
	rows(5)
	b.until("the tree has the focus", "document.activeElement.matches('[role=treegrid] [role=row]')")
	b.keys(kb.ArrowLeft)
	rows(1)
	b.keys(kb.ArrowRight)
	rows(5)
	b.keys("e")
	b.focus("Bash")
	b.reads(".error-box", "Exit code 1")
	b.keys(kb.Enter)
	b.until("the panel has the focus", "document.activeElement.id === 'panel'")
	b.keys(kb.Escape)
	b.until("the tree has it again", "document.activeElement.matches('[role=row]')")
	b.until("the way to the next prompt", "document.querySelector('.neighbours a[aria-label^=Next]')")
	b.keys("]")
	b.reads("h1", "Second prompt")
	b.until("the way back", "document.querySelector('.neighbours a[aria-label^=Previous]')")
	b.keys("[")
	b.reads("h1", "First prompt")

	b.keys("?")
	b.reads("dialog[open]", "next, previous row")
	b.keys(kb.Escape)
	b.until("the help is gone", "!document.querySelector('dialog')")
	b.keys(kb.Escape)
	b.until("the thread again", "document.querySelectorAll('.row.turn').length === 3")
	b.keys(kb.Escape)
	b.until("the threads again", "document.querySelectorAll('.row.thread').length === 4")
	b.keys("/")
	b.until("the search has the focus", "document.activeElement.type === 'search'")
	b.keys("j", "j", "j") // letters are letters there
	if got := eval[string](b, "document.activeElement.value"); got != "jjj" {
		t.Errorf("the search reads %q", got)
	}
}

// focus waits until what has the focus reads so, and looks whether that can be seen.
func (b *tab) focus(text string) {
	b.Helper()
	b.until("the focus on "+text, fmt.Sprintf("document.activeElement.innerText?.includes(%q)", text))
	if got := eval[string](b, "getComputedStyle(document.activeElement).outlineStyle"); got == "none" {
		b.Errorf("the focus on %q is not to be seen", text)
	}
}
