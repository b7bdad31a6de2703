package browser

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// beside opens another tab of the same browser, with the same cookies.
func (b *tab) beside() *tab {
	b.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.Cleanup(cancel)
	other := &tab{TB: b.TB, ctx: ctx}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		b.Fatal(err)
	}
	return other
}

// A browser keeps few connections to one server; pages that each hold one to hear of news
// would leave none for the next.
func TestManyTabsAreAllLive(t *testing.T) {
	site := newSite(t)
	site.put(plain(t, "thread", 1, time.Now().Add(-time.Hour), "The first").runs...)
	first := newTab(t)
	site.open(first, "#/turns")
	tabs := []*tab{first}
	for range 7 {
		b := first.beside()
		b.do(chromedp.Navigate(first.base() + "#/turns"))
		b.reads(".row", "The first")
		tabs = append(tabs, b)
	}
	for _, b := range tabs {
		b.until("it is live", "document.getElementById('live').textContent === 'live'")
	}
	site.put(plain(t, "thread", 2, time.Now().Add(-time.Minute), "The second").runs...)
	for _, b := range tabs {
		b.reads(".rows", "The second")
	}
	// The tab that listened for all may be the one that is closed.
	first.do(chromedp.Navigate("about:blank"))
	for _, b := range tabs[1:] {
		b.until("it is live again", "document.getElementById('live').textContent === 'live'")
	}
	site.put(plain(t, "thread", 3, time.Now(), "The third").runs...)
	for _, b := range tabs[1:] {
		b.reads(".rows", "The third")
	}
}
