package exporter

import (
	"encoding/json"
	"testing"
)

func TestTheSettingsMetadataJoinsThatOfEveryRun(t *testing.T) {
	s, every := newLangsmith(t), 1.0
	cfg := config(s, nil)
	cfg.Metadata = map[string]any{"revision_id": "v7", "team": "theirs"}
	cfg.Sampling = &every
	own := pending(2)
	own.Metadata = map[string]any{"team": "own"}
	export(t, newTestClient(t, cfg), post(pending(1)), post(own))
	check := func(id, team string) {
		t.Helper()
		var extra struct{ Metadata map[string]any }
		if err := json.Unmarshal([]byte(s.field(id, "extra")), &extra); err != nil {
			t.Fatal(err)
		}
		m := extra.Metadata
		if m["revision_id"] != "v7" || m["team"] != team || m["ls_tracing_sample_rate"] != 1.0 || m["thread_id"] != "thread" {
			t.Errorf("%v", m)
		}
	}
	check(pending(1).ID.String(), "theirs")
	check(own.ID.String(), "own")
	if len(own.Metadata) != 1 || len(cfg.Metadata) != 2 {
		t.Errorf("the caller's maps were changed: %v, %v", own.Metadata, cfg.Metadata)
	}
}
