package exporter

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

// lane holds the waiting items of one trace. While some of a trace's items are
// under way its lane is busy and the others stay: that is what keeps a patch
// behind its post although several requests are in flight.
type lane struct {
	trace uuid.UUID
	items []*item // oldest first
	busy  bool
}

// lanes are the traces with items waiting or under way. Those that may leave wait
// in a line, by the age of what they had first.
type lanes struct {
	byTrace map[uuid.UUID]*lane
	line    []*lane
	posts   map[uuid.UUID]*item // waiting posts, by run
	items   int                 // in the line
	weight  int64               // of those
	held    int                 // items waiting, in the line and behind busy lanes
}

func newLanes() lanes {
	return lanes{byTrace: map[uuid.UUID]*lane{}, posts: map[uuid.UUID]*item{}}
}

// add lets a patch join its waiting post, and anything else wait as it is. It
// reports whether there is an item more.
func (l *lanes) add(it *item) bool {
	if post := l.posts[it.id()]; post != nil && it.verb == runtypes.Patch && post.absorb(it) {
		if !post.lane.busy {
			l.weight += it.weight
		}
		return false
	}
	each := l.lane(it)
	each.items = append(each.items, it)
	l.waits(each, it)
	return true
}

// restore puts items back in front of those of their traces that wait. Their lanes
// have been released.
func (l *lanes) restore(items []*item) {
	for _, it := range slices.Backward(items) {
		each := l.lane(it)
		each.items = slices.Insert(each.items, 0, it)
		l.waits(each, it)
	}
}

func (l *lanes) lane(it *item) *lane {
	trace := it.ops[0].Run.TraceID
	each := l.byTrace[trace]
	if each == nil {
		each = &lane{trace: trace}
		l.byTrace[trace] = each
	}
	it.lane = each
	return each
}

// waits counts an item that has joined a lane.
func (l *lanes) waits(each *lane, it *item) {
	if it.verb == runtypes.Post {
		l.posts[it.id()] = it
	}
	l.held++
	if each.busy {
		return
	}
	if len(each.items) == 1 {
		l.line = append(l.line, each)
	}
	l.items++
	l.weight += it.weight
}

// take removes items that make a request from the front of the line: at most so
// many, of about so much weight, none numbered upTo or more. Their lanes are busy
// until release.
func (l *lanes) take(items int, weight int64, upTo uint64) (p parcel) {
	line := l.line
	kept := line[:0]
	for i, each := range line {
		n := 0
		for n < len(each.items) && len(p.items)+n < items && each.items[n].number < upTo {
			it := each.items[n]
			if len(p.items)+n > 0 && p.weight+it.weight > weight {
				items = 0 // the request is full
				break
			}
			p.weight += it.weight
			n++
		}
		if n > 0 {
			l.pick(&p, each, n)
		} else {
			kept = append(kept, each)
		}
		if len(p.items) >= items {
			kept = append(kept, line[i+1:]...)
			break
		}
	}
	clear(line[len(kept):])
	l.line = kept
	return p
}

// pick moves a lane's first n items to a parcel.
func (l *lanes) pick(p *parcel, each *lane, n int) {
	for i, it := range each.items {
		l.items--
		l.weight -= it.weight
		if i >= n {
			continue
		}
		p.ops += len(it.ops)
		if l.posts[it.id()] == it {
			delete(l.posts, it.id())
		}
	}
	l.held -= n
	p.items = append(p.items, each.items[:n]...)
	clear(each.items[:n]) // the runs must not outlive their delivery
	each.items = each.items[n:]
	each.busy = true
	p.lanes = append(p.lanes, each)
}

// release ends the stay of a parcel's lanes on the road.
func (l *lanes) release(p *parcel) {
	for _, each := range p.lanes {
		each.busy = false
		if len(each.items) == 0 {
			delete(l.byTrace, each.trace)
			continue
		}
		l.line = append(l.line, each)
		l.items += len(each.items)
		for _, it := range each.items {
			l.weight += it.weight
		}
	}
}

// parcel is what a request is made of.
type parcel struct {
	items  []*item
	lanes  []*lane
	ops    int
	weight int64
}
