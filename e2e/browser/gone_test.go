package browser

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// forget takes a turn out of the store, as tracesmith forget does.
func (s *site) forget(trace string) {
	s.t.Helper()
	if n, err := s.runs.Forget(context.Background(), trace); err != nil || n == 0 {
		s.t.Fatal(n, err)
	}
}

func TestATurnThatIsForgottenLeavesEveryTabThatShowsIt(t *testing.T) {
	site := newSite(t)
	var turns []*turn
	for i, prompt := range []string{"Keep this", "Forget this secret", "Keep that"} {
		u := plain(t, "thread", i+1, time.Now().Add(time.Duration(i-9)*time.Minute), prompt)
		site.put(u.runs...)
		turns = append(turns, u)
	}
	one, thread, flat := newTab(t), newTab(t), newTab(t)
	site.open(one, "#/turn/"+turns[1].trace())
	site.open(thread, "#/thread/thread")
	site.open(flat, "#/turns")
	one.reads("h1", "Forget this secret")
	for _, b := range []*tab{one, thread, flat} {
		b.until("it listens", "document.getElementById('live').textContent === 'live'")
	}
	for _, b := range []*tab{thread, flat} {
		b.until("three rows", "document.querySelectorAll('.row.turn').length === 3")
	}
	one.expect("404")
	site.forget(turns[1].trace())
	one.reads("[role=alert]", "This turn is not in the store")
	if text := one.text("main"); text == "" || eval[bool](one, "document.querySelector('main').textContent.includes('secret')") {
		t.Errorf("the page still shows what was forgotten: %s", text)
	}
	for _, b := range []*tab{thread, flat} {
		b.until("two rows", "document.querySelectorAll('.row.turn').length === 2")
	}
	thread.expect("404")
	site.forget(turns[0].trace())
	site.forget(turns[2].trace())
	thread.reads(".note", "This thread is not in the store")
	flat.reads(".note", "Nothing recorded yet")
}

func TestALongThreadShowsItsNewestTurnAtItsEnd(t *testing.T) {
	site := newSite(t)
	for i := range 150 {
		site.put(plain(t, "thread", i+1, time.Now().Add(time.Duration(i-200)*time.Minute), fmt.Sprintf("Prompt %d", i+1)).runs...)
	}
	b := newTab(t)
	site.open(b, "#/thread/thread")
	b.until("the list is there", "document.querySelectorAll('.row').length > 10")
	b.until("the page listens", "document.getElementById('live').textContent === 'live'")
	b.until("all of it is there", "(document.querySelector('.scroller').scrollTop = 1e6, document.querySelector('.note').textContent === '150 turns in all')")
	site.put(plain(t, "thread", 151, time.Now(), "The very last").runs...)
	b.until("one more", "(document.querySelector('.scroller').scrollTop = 1e6, document.querySelector('.note').textContent === '151 turns in all')")
	b.until("it can be read", "document.querySelector('.rows').innerText.includes('The very last')")
	if n := eval[int](b, "new Set([...document.querySelectorAll('.row a')].map((a) => a.href)).size - document.querySelectorAll('.row').length"); n != 0 {
		t.Errorf("%d rows stand twice", -n)
	}
}

func TestThePageSaysThatItsServerIsGone(t *testing.T) {
	site := newSite(t)
	site.put(plain(t, "thread", 1, time.Now().Add(-time.Minute), "Tidy up").runs...)
	b := newTab(t)
	site.open(b, "#/threads")
	b.until("the page listens", "document.getElementById('live').textContent === 'live'")
	b.expect("ERR_")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := site.server.Close(ctx); err != nil {
		t.Fatal(err)
	}
	b.until("it says so", "document.getElementById('live').textContent === 'reconnecting…'")
	b.click(".row a")
	b.reads(".note.failed", "Cannot load the thread: the page's server does not answer")
	b.do(chromedp.NavigateBack())
	b.reads(".note.failed", "the page's server does not answer")
}
