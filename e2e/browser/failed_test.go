package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

func TestAFailedTurnIsFoundByAFilterAndOpensOnItsError(t *testing.T) {
	site := newSite(t)
	for i := range 30 {
		start := time.Now().Add(-time.Duration(i+1) * time.Minute)
		site.put(plain(t, fmt.Sprintf("thread-%d", i), 1, start, fmt.Sprintf("Tidy up package %d", i)).runs...)
	}
	failed := newTurn(t, "thread-bad", 1, time.Now().Add(-10*time.Minute), "Make the uploads retry")
	failed.model(14_000, "Running the tests.")
	failed.tool("Bash", map[string]any{"command": "go test ./..."}, "", 0)
	failed.fails("Exit code 1\n--- FAIL: TestRetry (0.31s)\n    client_test.go:77: got 1 attempt, want 3")
	failed.done("One test fails.")
	failed.runs[0].Error, failed.runs[0].Outputs = "API Error: 529 overloaded", nil
	site.put(failed.runs...)

	b := newTab(t)
	site.open(b, "#/turns")
	b.until("the list is there", "document.querySelectorAll('.row').length > 10")
	b.click("input[name=failed]")
	b.until("one turn is left", "document.querySelectorAll('.row').length === 1")
	b.reads(".row", "Make the uploads retry")
	b.reads(".row", "529 overloaded")
	b.click(".row a")
	b.reads("h1", "Make the uploads retry")
	b.reads(".failures", "Bash")
	b.reads(".failures", "FAIL: TestRetry")
	b.reads(".failures", "API Error: 529 overloaded")
	b.click(".failures button")
	b.reads(".run-head h2", "Bash")
	b.reads(".error-box", "client_test.go:77: got 1 attempt, want 3")
	b.reads(".panel", "go test ./...")

	// Back in the list the filter still holds.
	b.do(chromedp.NavigateBack())
	b.until("the list again", "document.querySelectorAll('.row').length === 1")
	if !eval[bool](b, "document.querySelector('input[name=failed]').checked") {
		t.Error("going back forgot the filter")
	}
}

func TestATurnThatEndedWellIsFoundByAStepThatFailed(t *testing.T) {
	site := newSite(t)
	for i := range 5 {
		site.put(plain(t, "thread", i+1, time.Now().Add(-time.Duration(9-i)*time.Minute), fmt.Sprintf("Tidy up package %d", i)).runs...)
	}
	u := newTurn(t, "other", 1, time.Now().Add(-time.Minute), "Try it twice")
	id := u.model(9_000, "Trying.")
	u.runs[1].Extra = raw(t, map[string]any{"metadata": map[string]any{"ls_integration": "claude-code", "thread_id": "other", "usage_metadata": map[string]any{
		"input_tokens": 9_000, "output_tokens": 7, "total_tokens": 9_007, "total_cost": 0.25}}})
	u.tool("Bash", map[string]any{"command": "false"}, "", 0)
	u.fails("Exit code 1")
	site.put(u.done("It works now.")...)
	b := newTab(t)
	site.open(b, "#/threads")
	b.until("both threads", "document.querySelectorAll('.row').length === 2")
	b.click("input[name=failed]")
	b.reads(".note", "No threads match")
	b.click("input[name=failed_steps]") // either will do
	b.until("one thread is left", "document.querySelectorAll('.row').length === 1")
	b.reads(".row .badge.step", "1 failed step")
	b.reads(".row .cost", "$0.25")
	if n := eval[int](b, "document.querySelectorAll('.row .badge.failed').length"); n > 0 {
		t.Error("a turn that ended well is called failed")
	}
	b.click(".row a")
	b.reads(".row", "3 runs") // the thread, whose rows are turns
	b.reads(".row .badge.step", "1 failed step")
	b.click(".row a")
	b.reads(".failures", "Exit code 1")
	b.reads(".head .cost", "$0.25")
	site.open(b, "#/turn/"+u.trace()+"?run="+id)
	b.reads(".run-head", "$0.25")
}

func TestSearchFindsATurnByItsPrompt(t *testing.T) {
	site := newSite(t)
	for i := range 5 {
		site.put(plain(t, "thread", i+1, time.Now().Add(-time.Duration(9-i)*time.Minute), fmt.Sprintf("Tidy up package %d", i)).runs...)
	}
	site.put(plain(t, "other", 1, time.Now().Add(-time.Minute), "Explain the flux capacitor").runs...)
	b := newTab(t)
	site.open(b, "#/threads")
	b.until("both threads", "document.querySelectorAll('.row').length === 2")
	b.keys("/")
	b.keys(strings.Split("capacitor", "")...)
	b.until("one thread is left", "document.querySelectorAll('.row').length === 1")
	b.reads(".row", "Explain the flux capacitor")
}
