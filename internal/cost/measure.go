package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// way is how runs are sent.
type way struct {
	level  runtypes.Level
	inputs integrations.Inputs
	live   bool // the post of a run does not wait for its end
}

// cost is what so many turns cost.
type cost struct {
	turns, events int
	bytes, wire   int64
}

// measure plays those of an agent's recordings below root whose names fit a pattern.
func measure(ctx context.Context, root, only string, agent *integrations.Agent, w way) (cost, error) {
	dirs, err := filepath.Glob(filepath.Join(root, "integrations", agent.Name, "testdata", only, "hooks.jsonl"))
	if err != nil {
		return cost{}, err
	}
	if len(dirs) == 0 {
		return cost{}, fmt.Errorf("no recordings %s of %s below %s", only, agent.Name, root)
	}
	server, err := newCounter()
	if err != nil {
		return cost{}, err
	}
	total := cost{}
	for _, file := range dirs {
		turns, err := play(ctx, filepath.Dir(file), agent, w, server)
		if err != nil {
			return cost{}, fmt.Errorf("%s: %w", filepath.Base(filepath.Dir(file)), err)
		}
		total.turns += turns
	}
	total.events, total.bytes, total.wire = server.events, server.bytes, server.wire
	return total, nil
}

// play sends one recording and returns how many turns it has.
func play(ctx context.Context, dir string, agent *integrations.Agent, w way, server *counter) (turns int, err error) {
	rec, err := replay.Load(dir)
	if err != nil {
		return 0, err
	}
	client, err := exporter.NewClient(exporter.Config{
		APIKey: "key", NoCompression: true, Redact: exporter.NoRedaction, // the replay has redacted
		Wrap: func(http.RoundTripper) http.RoundTripper { return server },
	})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	var held []runtypes.Op
	var failed error
	send := func(ops []runtypes.Op) {
		if _, err := client.Export(ctx, ops); err != nil && failed == nil {
			failed = err
		}
	}
	got, err := rec.Run(agent, replay.Options{Inputs: w.inputs, Polls: w.live, Told: func(ops []runtypes.Op) {
		for _, op := range ops {
			runtypes.Limit(op.Run, w.level)
		}
		if w.live {
			send(ops)
		} else {
			held = append(held, ops...)
		}
	}})
	if err != nil {
		return 0, err
	}
	if len(held) > 0 {
		send(held)
	}
	none := uuid.Nil.String()
	for _, run := range got.Runs {
		if run.ParentRunID == "" || run.ParentRunID == none {
			turns++
		}
	}
	return turns, failed
}
