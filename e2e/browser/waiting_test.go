package browser

import (
	"testing"
	"time"
)

func TestANightOfWaitingDoesNotSqueezeTheRest(t *testing.T) {
	site := newSite(t)
	u := newTurn(t, "thread", 1, time.Now().Add(-10*time.Hour), "Deploy it")
	u.model(9_000, "Asking first.")
	u.tool("Bash", map[string]any{"command": "make deploy"}, "ok", 9*time.Hour)
	u.model(9_500, "Deployed.")
	site.put(u.done("Deployed.")...)

	b := newTab(t)
	site.open(b, "#/turn/"+u.trace())
	b.until("all rows", "document.querySelectorAll('.rows > .trow').length === 4")
	b.reads(".axis .break", "≈")
	if got := eval[string](b, "document.querySelector('.axis .break').title"); got != "9h 00m left out" {
		t.Errorf("the break is called %q", got)
	}
	b.reads(".thead .hidden", "9h 00m left out")
	// A model call of a second and a half takes a good part of a lane of some four seconds.
	const share = `[...document.querySelectorAll('.rows .bar.model')].map((e) => e.getBoundingClientRect().width / e.parentElement.getBoundingClientRect().width)`
	for _, got := range eval[[]float64](b, share) {
		if got < 0.2 || got > 0.6 {
			t.Errorf("a model call takes %.3f of the lane", got)
		}
	}
	// And what comes after the wait stands after it.
	if !eval[bool](b, `(() => { const left = (s) => document.querySelector(s).getBoundingClientRect().left;
		return left('.trow.tool .bar.waiting') < left('.trow.tool .bar.tool') && left('.trow.tool .bar.tool') < [...document.querySelectorAll('.rows .bar.model')].at(-1).getBoundingClientRect().left; })()`) {
		t.Error("the bars are not in the order of time")
	}
	b.shot("turn-waiting-1280-light")
}

func TestATurnWithoutLongWaitsIsDrawnToScale(t *testing.T) {
	site := newSite(t)
	u := plain(t, "thread", 1, time.Now().Add(-time.Hour), "Tidy up")
	site.put(u.runs...)
	b := newTab(t)
	site.open(b, "#/turn/"+u.trace())
	b.until("all rows", "document.querySelectorAll('.rows > .trow').length === 3")
	if n := eval[int](b, "document.querySelectorAll('.axis .break').length"); n != 0 {
		t.Errorf("%d breaks", n)
	}
	// 0.1 s of nothing, 1.5 s of the model, 0.4 s of the tool.
	if got := eval[float64](b, `(() => { const w = (s) => document.querySelector(s).getBoundingClientRect().width; return w('.rows .bar.model') / w('.rows .bar.tool'); })()`); got < 3.5 || got > 4 {
		t.Errorf("the model's bar is %.2f times the tool's, want 3.75", got)
	}
}
