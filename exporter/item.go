package exporter

import (
	"errors"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

// item is one write on its way: an op, or several of one run folded into one.
type item struct {
	ops   []runtypes.Op // the caller's own, in order
	verb  runtypes.Verb
	wire  record // empty until prepared and once settled
	short bool   // texts were cut
	done  bool   // delivered or dropped

	dropped bool // all of it
	unnamed int  // dropped of the request it was in: the server did not say which

	tickets []uint64 // of the ops, where they came out of a spool
	gone    []uint64 // of ops that are settled, although the item is not

	lane   *lane // in a queue
	weight int64
	huge   int // 1: weight says less than is there
	number uint64

	room [2]runtypes.Op // where ops begins: nearly all are a post and a patch
}

func newItem(op runtypes.Op) *item {
	it := &item{verb: op.Verb}
	it.room[0] = op
	it.ops = it.room[:1]
	return it
}

// absorb takes in a patch of the run, unless one of the two is serialised already
// and the other is not.
func (it *item) absorb(patch *item) bool {
	if it.spooled() != patch.spooled() {
		return false
	}
	if it.spooled() && it.wire.merge(&patch.wire) != nil {
		return false
	}
	it.ops = append(it.ops, patch.ops...)
	it.tickets = append(it.tickets, patch.tickets...)
	it.weight += patch.weight
	it.huge += patch.huge
	return true
}

// spooled reports whether the item came out of a spool, serialised.
func (it *item) spooled() bool { return len(it.tickets)+len(it.gone) > 0 }

// id is the run's.
func (it *item) id() uuid.UUID { return runID(it.ops[0]) }

// run is what the ops say together.
func (it *item) run() *runtypes.Run {
	run := it.ops[0].Run
	for _, op := range it.ops[1:] {
		run = runtypes.Merge(run, op.Run)
	}
	return run
}

// fold makes one item of each run's first op and the patches that follow it, in
// the order of the first ops. A run's writes are billed and limited one by one,
// and a server takes a second patch for a repetition.
func fold(ops []runtypes.Op) []*item {
	items := make([]*item, 0, len(ops))
	latest := make(map[uuid.UUID]*item, len(ops))
	for _, op := range ops {
		if op.Run == nil {
			items = append(items, newItem(op))
			continue
		}
		if it := latest[op.Run.ID]; it != nil && op.Verb == runtypes.Patch {
			it.ops = append(it.ops, op)
			continue
		}
		it := newItem(op)
		items, latest[op.Run.ID] = append(items, it), it
	}
	return items
}

// more reports whether the item is a post that says more than that its run has begun.
func (it *item) more() bool {
	if it.verb != runtypes.Post {
		return false
	}
	w, err := it.wire.head()
	return len(it.ops) > 1 || err == nil && w.EndTime != ""
}

// asPatch turns a post whose run the server already knows into a patch, and returns
// how many ops that settles: the post, where the item took a patch in. It carries
// what both say, since extra is replaced as a whole.
func (it *item) asPatch() (settled int) {
	if len(it.ops) > 1 {
		settled, it.ops = 1, it.ops[1:]
		if it.spooled() {
			it.gone, it.tickets = it.tickets[:1], it.tickets[1:]
		}
	}
	it.verb, it.wire.verb = runtypes.Patch, runtypes.Patch
	it.wire.omit("inputs")
	return settled
}

// adopt makes a post of a patch whose own was dropped.
func (it *item) adopt(o *orphans) {
	if it.verb == runtypes.Patch && o.has(it.id()) {
		it.verb, it.wire.verb = runtypes.Post, runtypes.Post
	}
}

// settle marks the item as delivered or dropped and lets go of its bytes.
func (it *item) settle() {
	it.done = true
	it.wire = record{}
}

// prepare redacts a copy of the run and serialises it, once.
func (it *item) prepare(c *Client) *DropError {
	it.adopt(&c.orphan)
	if it.spooled() {
		return nil
	}
	run := it.run()
	if run != nil && len(c.cfg.Metadata) > 0 {
		more := *run
		more.Metadata = joined(run.Metadata, c.cfg.Metadata)
		run = &more
	}
	clean := run
	if run != nil {
		err := guard(func() (err error) { clean, err = c.redact(run); return err })
		if err != nil {
			return it.unclean(run, err)
		}
	}
	err := guard(func() (err error) {
		it.wire, err = serialise(runtypes.Op{Verb: it.verb, Run: clean}, &c.cfg)
		return err
	})
	if err != nil {
		return &DropError{Reason: ReasonInvalid, Err: err}
	}
	return nil
}

// unclean says why a run that could not be redacted is dropped: perhaps there is
// nothing of it that could be written either.
func (it *item) unclean(run *runtypes.Run, failure error) *DropError {
	var invalid *runtypes.FieldError
	err := guard(func() error { _, err := runtypes.Encode(runtypes.Op{Verb: it.verb, Run: run}); return err })
	if errors.As(err, &invalid) {
		return &DropError{Reason: ReasonInvalid, Err: invalid}
	}
	return &DropError{Reason: ReasonRedaction, Err: &redactionError{failure}}
}

// serialise makes of an op what its destination gets.
func serialise(op runtypes.Op, cfg *Config) (record, error) {
	w, err := runtypes.Encode(op)
	if err != nil {
		return record{}, err
	}
	cfg.file(&w)
	if err := mendOrder(&w); err != nil {
		return record{}, &runtypes.FieldError{Run: op.Run.ID, Field: "dotted_order", Err: err}
	}
	if cfg.replica != nil {
		if err := cfg.replica.rewrite(&w, op.Run.Remote); err != nil {
			return record{}, err
		}
	}
	hide(&w, cfg)
	r := newRecord(op.Verb, &w)
	r.files = attach(op.Run.Attachments)
	if cfg.replica != nil {
		err = cfg.replica.apply(&r)
	}
	return r, err
}

// hide leaves out what the settings say.
func hide(w *runtypes.Wire, cfg *Config) {
	if cfg.HideInputs && len(w.Inputs) > 0 {
		w.Inputs = []byte("{}")
	}
	if cfg.HideOutputs && len(w.Outputs) > 0 {
		w.Outputs = []byte("{}")
	}
	if cfg.HideMetadata {
		w.Extra = []byte(`{"metadata":{}}`)
	}
}
