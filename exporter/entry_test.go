package exporter

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestAnEntryKeepsARecord(t *testing.T) {
	run := ended(1)
	run.Error = "it broke\n"
	run.Attachments = []runtypes.Attachment{{Name: "a =/é\n", MIMEType: "text/plain; charset=utf-8", Data: []byte("\x00\n")}, {Name: "empty"}}
	cfg, _ := Config{}.withDefaults()
	want, err := serialise(post(run), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	it, err := readEntry(appendEntry(nil, &want, run.TraceID), 7)
	if err != nil {
		t.Fatal(err)
	}
	boundary := newBoundary()
	a, b := appendMultipart(nil, boundary, []*record{&want}), appendMultipart(nil, boundary, []*record{&it.wire})
	if diff := cmp.Diff(string(a), string(b)); diff != "" {
		t.Error(diff)
	}
	if it.id() != run.ID || it.ops[0].Run.TraceID != run.TraceID || it.tickets[0] != 7 || it.verb != runtypes.Post {
		t.Errorf("%+v", it)
	}
	it.fill()
	got := it.ops[0].Run
	if got.Name != run.Name || got.Error != run.Error || !got.Start.Equal(run.Start) || !got.End.Equal(run.End) || string(got.Outputs) != string(run.Outputs) {
		t.Errorf("%+v", got)
	}
}

func TestSpooledWritesOfARunMergeAsTheServerWouldMergeThem(t *testing.T) {
	cfg, _ := Config{}.withDefaults()
	entry := func(op runtypes.Op) *item {
		r, err := serialise(op, &cfg)
		if err != nil {
			t.Fatal(err)
		}
		it, err := readEntry(appendEntry(nil, &r, op.Run.TraceID), 1)
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	first, last := entry(post(pending(1))), entry(patch(ended(1)))
	if newItem(post(pending(1))).absorb(last) || !first.absorb(last) {
		t.Fatal("what is serialised joins what is not, or not its like")
	}
	want, err := serialise(runtypes.Op{Verb: runtypes.Post, Run: runtypes.Merge(pending(1), ended(1))}, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	var a, b map[string]any
	decode(t, want.appendJSON(nil), &a)
	decode(t, first.wire.appendJSON(nil), &b)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
}

func FuzzReadEntry(f *testing.F) {
	cfg, _ := Config{}.withDefaults()
	r, err := serialise(post(ended(1)), &cfg)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(appendEntry(nil, &r, ended(1).TraceID))
	f.Add([]byte("post 01a22aa0-b950-7f8f-a3b8-183d3a0cbba9 01a22aa0-b950-7f8f-a3b8-183d3a0cbba9 main=2 attachment/a/b=1\n{}x"))
	f.Add([]byte("patch x y main=-1\n"))
	f.Fuzz(func(t *testing.T, entry []byte) {
		it, err := readEntry(entry, 1)
		if err != nil {
			return
		}
		it.fill()
		again, err := readEntry(appendEntry(nil, &it.wire, it.ops[0].Run.TraceID), 1)
		if err != nil {
			t.Fatalf("%q: %v", entry, err)
		}
		if !bytes.Equal(again.wire.main, it.wire.main) || len(again.wire.fields) != len(it.wire.fields) || len(again.wire.files) != len(it.wire.files) {
			t.Fatalf("%q became %+v", entry, again.wire)
		}
	})
}

func FuzzRemap(f *testing.F) {
	f.Add("20261130T040506007008Z01a22aa0-b950-7f8f-a3b8-183d3a0cbba9", "p")
	f.Add("20261130T040506007008Z01a22aa0-b950-7f8f-a3b8-183d3a0cbba9.20261130T040506007009Z0e01bf50-474d-4536-810f-67d3ee7ea3e7", "")
	f.Add("..", "x")
	f.Fuzz(func(t *testing.T, order, project string) {
		w := runtypes.Wire{DottedOrder: order, ParentRunID: "x"}
		if remap(&w, project) != nil {
			return
		}
		if len(w.DottedOrder) < len(order)-64 { // the shortest form of a UUID is 32 characters, the longest 45
			t.Errorf("%q became %q", order, w.DottedOrder)
		}
		if id := uuid.MustParse(w.ID); id.Version() != 7 || id.Variant() != uuid.RFC4122 {
			t.Errorf("%q became %q, of run %s", order, w.DottedOrder, w.ID)
		}
	})
}
