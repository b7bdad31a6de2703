package exporter

import (
	"sync"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

// mostOrphans bounds what is remembered; the oldest are forgotten.
const mostOrphans = 1 << 16

// orphans are runs whose post was dropped while their patch may yet come. Alone
// that patch would leave a run without a beginning for ever; but it says all that
// the post did, so it takes the post's place.
type orphans struct {
	mu    sync.Mutex
	ids   map[uuid.UUID]struct{}
	order []uuid.UUID // oldest first; some may be gone from ids
}

// lost remembers the posts among ops.
func (o *orphans) lost(ops ...runtypes.Op) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, op := range ops {
		if op.Verb != runtypes.Post || op.Run == nil || !op.Run.Pending() {
			continue
		}
		if _, known := o.ids[op.Run.ID]; known {
			continue
		}
		if o.ids == nil {
			o.ids = map[uuid.UUID]struct{}{}
		}
		o.ids[op.Run.ID] = struct{}{}
		o.order = append(o.order, op.Run.ID)
	}
	for len(o.order) > mostOrphans {
		const some = mostOrphans / 4 // not one by one: a full queue drops thousands a second
		for _, id := range o.order[:some] {
			delete(o.ids, id)
		}
		o.order = append(o.order[:0], o.order[some:]...)
	}
}

// forget notes that a post was taken after all.
func (o *orphans) forget(id uuid.UUID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.ids, id)
}

// has reports whether a run's post was dropped.
func (o *orphans) has(id uuid.UUID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.ids[id]
	return ok
}
