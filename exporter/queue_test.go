package exporter

import (
	"testing"
	"testing/synctest"
)

func TestNothingIsKeptOfWhatIsDelivered(t *testing.T) {
	batching(t, func(c *Config) { c.InFlight = 3 }, func(t *testing.T, _ *langsmith, _ *drops, b *Batcher) {
		for n := range 500 {
			submit(t, b, turn(n, 2)...)
		}
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // for the last sender to end
		p := b.pipes[0]
		l := &p.queue.lanes
		if len(l.byTrace) > 0 || len(l.posts) > 0 || len(l.line) > 0 || l.items != 0 || l.held != 0 || l.weight != 0 ||
			p.queue.open != 0 || len(p.queue.marks) > 0 || len(p.client.orphan.ids) > 0 {
			t.Errorf("%+v, %d open, %d marks", l, p.queue.open, len(p.queue.marks))
		}
		for _, each := range l.line[:cap(l.line)] {
			if each != nil {
				t.Fatal("the line holds on to a trace that has left it")
			}
		}
	})
}
