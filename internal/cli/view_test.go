package cli

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
)

// The page may be up for days: what it says of LangSmith is what the settings say now.
func TestThePageLeadsToThePlaceThatTheSettingsNameNow(t *testing.T) {
	d := newDesk(t)
	state, err := d.openState()
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := d.pageConfig(state, d.store)
	if err != nil {
		t.Fatal(err)
	}
	trace := idgen.New()
	for _, each := range []struct {
		name, value string
		there       bool // once it was delivered
	}{
		{"TRACESMITH_OTLP_ENDPOINT", "http://127.0.0.1:4318", false}, // a collector has no pages
		{"LANGSMITH_API_KEY", "key", true},
		{"LANGSMITH_ENDPOINT", "https://another.example.com/api/v1", true},
	} {
		d.env[each.name] = each.value
		if cfg.Elsewhere(trace.String()) {
			t.Errorf("%s: it is there before it was delivered", each.name)
		}
		settings, err := d.settings("", "")
		if err != nil {
			t.Fatal(err)
		}
		for id := range strings.SplitSeq(settings.Destination(), ",") {
			if err := state.Enter(id, []uuid.UUID{trace}); err != nil {
				t.Fatal(err)
			}
		}
		if got := cfg.Elsewhere(trace.String()); got != each.there {
			t.Errorf("%s: got %v", each.name, got)
		}
	}
}
