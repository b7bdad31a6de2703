package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

func TestATurnArrivesWhileItsListIsReadAndNothingMoves(t *testing.T) {
	site := newSite(t)
	for i := range 60 {
		start := time.Now().Add(-time.Duration(i+5) * time.Minute)
		site.put(plain(t, fmt.Sprintf("thread-%d", i), 1, start, fmt.Sprintf("Tidy up package %d", i)).runs...)
	}
	b := newTab(t)
	site.open(b, "#/threads")
	b.until("the list is there", "document.querySelectorAll('.row').length > 10")
	b.until("the page listens", "document.getElementById('live').textContent === 'live'")
	for range 20 {
		b.keys("j")
	}
	const focused = "document.activeElement.innerText"
	const height = "Math.round(document.activeElement.getBoundingClientRect().top)"
	row, top := eval[string](b, focused), eval[int](b, height)

	now := newTurn(t, "thread-new", 1, time.Now().Add(-time.Second), "Write the changelog")
	now.model(9_000, "Reading the log.")
	site.put(now.runs...)
	b.until("the row that is read has moved down by one in the list",
		"document.activeElement.closest('[data-index]')?.dataset.index === '20'")
	if got := eval[string](b, focused); got != row {
		t.Errorf("the focus went from %q to %q", row, got)
	}
	if got := eval[int](b, height); got != top {
		t.Errorf("what was read moved from %d to %d pixels", top, got)
	}
	b.keys(kb.Home)
	b.reads(".row", "Write the changelog")
}

func TestATurnIsWatchedWhileItRuns(t *testing.T) {
	site := newSite(t)
	u := newTurn(t, "thread", 1, time.Now().Add(-5*time.Second), "Write the changelog")
	u.model(9_000, "Reading the log.")
	site.put(u.runs...)
	b := newTab(t)
	site.open(b, "#/turn/"+u.trace())
	b.until("root and model call", "document.querySelectorAll('.rows > .trow').length === 2")
	b.until("the page listens", "document.getElementById('live').textContent === 'live'")
	b.reads(".head", "running")
	b.keys("j")
	b.reads(".run-head h2", "Claude")

	u.tool("Bash", map[string]any{"command": "git log --oneline"}, "abc init", 0)
	site.put(u.runs[2:]...)
	b.until("the tool call has arrived", "document.querySelectorAll('.rows > .trow').length === 3")
	b.reads(".rows", "Bash")
	if got := eval[string](b, "document.activeElement.innerText"); !strings.Contains(got, "Claude") {
		t.Errorf("the focus left its run for %q", got)
	}
	b.reads(".run-head h2", "Claude")

	u.done("The changelog is written.")
	site.end(u.runs[0])
	b.until("it runs no longer", "!document.querySelector('.head').innerText.includes('running')")
	b.keys("k")
	b.reads(".panel", "The changelog is written.")
}
