package main

import (
	"container/heap"
	"time"
)

// clock runs what is due, in order. Times are since midnight.
type clock struct {
	now   time.Duration
	queue due
	count uint64
}

// at has f run at a time that is not past.
func (c *clock) at(when time.Duration, f func()) {
	c.count++
	heap.Push(&c.queue, event{when, c.count, f})
}

// run goes on until nothing is due before the end.
func (c *clock) run(end time.Duration) {
	for len(c.queue) > 0 && c.queue[0].when < end {
		next := heap.Pop(&c.queue).(event)
		c.now = next.when
		next.f()
	}
	c.now = end
}

// event is ordered by time, and among equals by when it was planned: nothing depends on
// the heap's own order.
type event struct {
	when   time.Duration
	number uint64
	f      func()
}

type due []event

func (d due) Len() int { return len(d) }
func (d due) Less(i, j int) bool {
	if d[i].when != d[j].when {
		return d[i].when < d[j].when
	}
	return d[i].number < d[j].number
}
func (d due) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *due) Push(x any)   { *d = append(*d, x.(event)) }
func (d *due) Pop() any {
	last := len(*d) - 1
	e := (*d)[last]
	(*d)[last] = event{}
	*d = (*d)[:last]
	return e
}
