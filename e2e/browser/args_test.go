package browser

import (
	"strings"
	"testing"
	"time"
)

// A text that the server cut is no text: no diff can be made of it.
func TestAFileTooLongToBeSentAtOnceIsShownAndLoaded(t *testing.T) {
	const end = "the very end"
	site := newSite(t)
	u := newTurn(t, "thread", 1, time.Now().Add(-time.Minute), "Write it")
	long := strings.Repeat("a line of it\n", 8000) + end
	write := u.tool("Write", map[string]any{"file_path": "/home/dev/notes.md", "content": long}, "written", 0)
	edit := u.tool("Edit", map[string]any{"file_path": "/home/dev/notes.md", "old_string": "short", "new_string": long}, "edited", 0)
	call := u.add(u.trace(), "Claude", "llm", time.Second, nil, messages("assistant", []any{
		map[string]any{"type": "tool_use", "name": "Remember", "input": map[string]any{"note": long}},
	}), nil)
	site.put(u.done("Done.")...)
	b := newTab(t)
	for _, run := range []string{write, edit, call} {
		site.open(b, "#/turn/"+u.trace()+"?run="+run)
		b.reads("#panel", "a line of it")
		// Each press shows a piece more, and one of them asks for the whole.
		b.until("the end is loaded", `(() => {
			[...document.querySelectorAll('#panel .more-text')].find((e) => !e.hidden && !e.disabled)?.click();
			return document.getElementById('panel').textContent.includes('`+end+`');
		})()`)
	}
}

func TestAToolThatOnlySoundsLikeWritingShowsWhatItWasGiven(t *testing.T) {
	site := newSite(t)
	u := newTurn(t, "thread", 1, time.Now().Add(-time.Minute), "Plan it")
	todo := u.tool("TodoWrite", map[string]any{"todos": []any{map[string]any{"content": "water the plants"}}}, "ok", 0)
	issue := u.tool("create_issue", map[string]any{"title": "a leaking tap", "content": "it drips"}, "ok", 0)
	site.put(u.done("Done.")...)
	b := newTab(t)
	for run, want := range map[string]string{todo: "water the plants", issue: "a leaking tap"} {
		site.open(b, "#/turn/"+u.trace()+"?run="+run)
		b.reads("#panel", want)
	}
}

func TestAKeyThatWasTypedBeforeLeavingAListDoesNotTakeTheAddressBack(t *testing.T) {
	site := newSite(t)
	site.put(plain(t, "thread", 1, time.Now().Add(-time.Hour), "The first").runs...)
	b := newTab(t)
	for _, from := range []string{"threads", "totals"} {
		site.open(b, "#/"+from)
		b.until("the list is there", "document.querySelector('input[name=q]')")
		eval[bool](b, `(() => {
			const field = document.querySelector('input[name=q]');
			field.value = 'first';
			field.dispatchEvent(new Event('input'));
			location.hash = '#/turns';
			return true;
		})()`)
		b.reads(".row", "The first")
		time.Sleep(300 * time.Millisecond) // a key is heard after 200
		if got := eval[string](b, "location.hash"); got != "#/turns" {
			t.Errorf("from %s the address has become %s", from, got)
		}
	}
}
