package main

import (
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestLessContentFewerInputsAndSettledRunsCostLess(t *testing.T) {
	agent, _ := agents.Find("claude-code")
	of := func(w way) cost {
		c, err := measure(t.Context(), "../..", "parallel", agent, w)
		if err != nil {
			t.Fatal(err)
		}
		if c.turns != 1 || c.events == 0 || c.wire == 0 || c.wire >= c.bytes {
			t.Fatalf("%+v costs %+v", w, c)
		}
		return c
	}
	live := of(way{runtypes.LevelFull, integrations.InputsTurn, true})
	settled := of(way{runtypes.LevelFull, integrations.InputsTurn, false})
	delta := of(way{runtypes.LevelFull, integrations.InputsDelta, false})
	noTools := of(way{runtypes.LevelNoToolContent, integrations.InputsTurn, true})
	metadata := of(way{runtypes.LevelMetadata, integrations.InputsTurn, true})
	if settled.events >= live.events || settled.events != delta.events {
		t.Errorf("events: live %d, settled %d, delta %d", live.events, settled.events, delta.events)
	}
	if delta.bytes >= settled.bytes || noTools.bytes >= live.bytes || metadata.bytes >= noTools.bytes {
		t.Errorf("bytes: turn %d, delta %d; full %d, no tools %d, metadata %d",
			settled.bytes, delta.bytes, live.bytes, noTools.bytes, metadata.bytes)
	}
}

func TestAMissingRecordingIsAnError(t *testing.T) {
	agent, _ := agents.Find("claude-code")
	if c, err := measure(t.Context(), "../..", "no such", agent, way{}); err == nil {
		t.Errorf("it costs %+v", c)
	}
}
