package browser

import (
	"context"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/web/webtest"
)

const turns = 10_000

// BenchmarkFirstPaint opens the page on a store with 10,000 turns: how long until
// something is painted, until the newest threads are, until the last letter
// of a search has its answer, and until a turn is open.
func BenchmarkFirstPaint(b *testing.B) {
	site := newSite(b)
	if err := webtest.Seed(context.Background(), site.runs, turns, time.Now()); err != nil {
		b.Fatal(err)
	}
	tab := newTab(b)
	site.open(tab, "#/threads") // the browser's own start is no part of it
	var paint, rows, search, open float64
	for b.Loop() {
		site.open(tab, "#/threads")
		rows += eval[float64](tab, waited(`document.querySelector(".row")`, ""))
		tab.until("something is painted", `performance.getEntriesByName("first-contentful-paint").length > 0`)
		paint += eval[float64](tab, `performance.getEntriesByName("first-contentful-paint")[0].startTime`)
		search += eval[float64](tab, waited(`performance.getEntriesByType("resource").some((e) => e.name.includes("q=zebra") && e.responseEnd > 0)`,
			`const f = document.querySelector("[type=search]"); f.value = "zebra"; f.dispatchEvent(new Event("input"));`))
		open += eval[float64](tab, waited(`document.querySelector(".rows > .trow")`,
			`fetch("api/turns?limit=1").then((r) => r.json()).then((a) => { location.hash = "#/turn/" + a.turns[0].trace_id; });`))
	}
	b.ReportMetric(paint/float64(b.N), "ms-to-paint")
	b.ReportMetric(rows/float64(b.N), "ms-to-threads")
	b.ReportMetric(search/float64(b.N), "ms-to-search")
	b.ReportMetric(open/float64(b.N), "ms-to-turn")
	if paint/float64(b.N) > 1000 {
		b.Error("the first paint takes more than a second")
	}
}

// waited is an expression for the milliseconds until a condition holds: since the page
// was asked for, or since what is done first.
func waited(condition, first string) string {
	return `(async () => { const begin = ` + map[bool]string{true: "0", false: "performance.now()"}[first == ""] + `; ` + first +
		` while (!(` + condition + `)) await new Promise((go) => setTimeout(go, 1)); return performance.now() - begin; })()`
}
