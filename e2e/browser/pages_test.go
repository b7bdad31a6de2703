package browser

import (
	"fmt"
	"testing"
	"time"
)

func TestAPageOfAListThatIsOnItsWayIsNotAskedForAgain(t *testing.T) {
	site := newSite(t)
	for n := range 60 {
		site.put(plain(t, fmt.Sprint("thread-", n), 1, time.Now().Add(-time.Duration(n)*time.Minute), "The prompt").runs...)
	}
	b := newTab(t)
	site.open(b, "#/turns")
	b.reads(".row", "The prompt")
	eval[bool](b, `(() => {
		window.asked = [];
		const real = window.fetch;
		window.fetch = async (address, options) => {
			if (!String(address).includes('cursor=')) return real(address, options);
			window.asked.push(String(address));
			await new Promise((done) => setTimeout(done, 500));
			return real(address, options);
		};
		const field = document.querySelector('input[name=q]');
		field.value = 'prompt';
		field.dispatchEvent(new Event('input'));
		return true;
	})()`)
	b.until("the second page is on its way", "window.asked.length > 0")
	b.until("the list was scrolled", `(() => {
		const scroller = document.querySelector('.scroller');
		scroller.dispatchEvent(new Event('scroll'));
		return document.querySelector('.note').textContent.includes('60 turns in all');
	})()`)
	if n := eval[int](b, "window.asked.length"); n != 1 {
		t.Errorf("it was asked for %d times", n)
	}
}
