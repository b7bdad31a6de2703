package runtypes

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
)

func TestTheEnvironmentAttachesTurnsToARun(t *testing.T) {
	sink := &memory{}
	outer := StartTurn(sink, identity(), "x")
	order := outer.DottedOrder()
	env := map[string]string{EnvParent: " ", EnvParentClaudeCode: order}
	p, err := ParentFromEnv(func(name string) string { return env[name] })
	if err != nil || p.ID != outer.ID() || p.TraceID != outer.ID() || !p.Start.Equal(outer.run.Start) {
		t.Fatalf("%+v %v", p, err)
	}
	early := outer.run.Start.Add(-time.Hour) // this machine's clock is behind
	inner := StartTurn(sink, identity(), "y", WithParent(p), WithClock(func() time.Time { return early }))
	inner.End("z")
	outer.End("z")
	runs := sink.final(t)
	for _, v := range Validate(runs) {
		t.Error(v)
	}
	if r := runs[1]; r.ParentID != outer.ID() || !r.Start.Equal(runs[0].Start) || r.End.Before(r.Start) {
		t.Errorf("%+v", r)
	}

	env[EnvParent] = "secret"
	if _, err := ParentFromEnv(func(name string) string { return env[name] }); err == nil ||
		!strings.Contains(err.Error(), EnvParent) || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	if p, err := ParentFromEnv(func(string) string { return "" }); err != nil || p.DottedOrder != "" {
		t.Errorf("%+v %v", p, err)
	}
	alone := StartTurn(sink, identity(), "x", WithParent(Parent{}))
	if alone.TraceID() != alone.ID() || alone.run.Kind != KindRoot {
		t.Errorf("the zero Parent attached a turn: %+v", alone.run)
	}
}

func TestADottedOrderHasToBeWhole(t *testing.T) {
	const id = "019ad3c4-5e6f-7a8b-9c0d-1e2f3a4b5c6d"
	good := "20261130T040506007008Z" + id
	f := func(text string, want bool) {
		t.Helper()
		if _, err := ParseParent(text); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	f(good, true)
	f(" "+good+"\n", true)
	f(good+".20261130T040506007009Z"+id, true)
	f(good+".20261130T040506007007Z"+id, false) // earlier than its parent
	f("", false)
	f(".", false)
	f(good+".", false)
	f(good[1:], false)
	f("20261130T040506007Z"+id, false)
	f("20261330T040506007008Z"+id, false)
	f("20261130T040506007008Z00000000-0000-0000-0000-000000000000", false)
	f("20261130T040506007008Z"+strings.ToUpper(id), false)
}

func TestEveryRunUnderAnotherProgramsRunKnowsWhichThatIs(t *testing.T) {
	p := Parent{DottedOrder: root().DottedOrder, ID: root().ID, TraceID: root().TraceID, Start: start}
	turn := Join(p, idgen.New(), start, identity())
	inner := Tool(Subagent(turn, idgen.New(), start, SubagentInfo{}), idgen.New(), start, "bash")
	if turn.Remote != p.ID || inner.Remote != p.ID {
		t.Errorf("%s and %s, want %s", turn.Remote, inner.Remote, p.ID)
	}
	if alone := root(); alone.Remote != uuid.Nil {
		t.Errorf("a turn of its own is under %s", alone.Remote)
	}
}

func TestAnAddressIsWrittenWhereARunHasOne(t *testing.T) {
	w := encoded(t, Op{Post, root()})
	if head := string(w.AppendHead(nil)); strings.Contains(head, "address") {
		t.Errorf("%s", head)
	}
	w.Address = "lrn:agents/support/environments/staging"
	if head := string(w.AppendHead(nil)); !strings.Contains(head, `"address":"lrn:agents/support/environments/staging"`) {
		t.Errorf("%s", head)
	}
	if got := MergeWire(Wire{}, w); got.Address != w.Address {
		t.Errorf("%+v", got)
	}
}
