package cli

import (
	"log/slog"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/journal"
)

func TestAPlaceThatCannotBeSentToLeavesTheStoreAlone(t *testing.T) {
	dir := t.TempDir()
	a := &app{now: time.Now, env: func(name string) string {
		if name == "TRACESMITH_STATE" || name == "HOME" {
			return dir
		}
		return ""
	}}
	state, err := journal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	settings := config.Config{Store: true, Replicas: []config.Replica{
		{Endpoint: "https://a.example", APIKey: "k", Updates: map[string]any{"tags": "no list"}},
	}}
	list, end, err := a.destinations(t.Context(), state, settings, drainFlags{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	}()
	if len(list) != 2 || list[0].Broken != nil || list[0].Export == nil || list[1].Broken == nil || list[1].Name != "https://a.example" {
		t.Errorf("%+v", list)
	}
}
