package exporter

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestAnOutputOf200MBIsShortenedAndItsNeighboursAreUnharmed(t *testing.T) {
	s, d := newLangsmith(t), new(drops)
	cfg := config(s, d)
	b, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	huge := ended(1)
	huge.Outputs = json.RawMessage(`{"text":"` + strings.Repeat("all work and no play ", 10<<20) + `"}`)
	if len(huge.Outputs) < 200<<20 {
		t.Fatalf("%d bytes", len(huge.Outputs))
	}
	submit(t, b, post(pending(0)), post(huge), post(pending(2)))
	if err := b.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := s.field(huge.ID.String(), "outputs")
	if len(s.runs) != 3 || len(got) > DefaultMaxBytes || !strings.Contains(got, "bytes left out]") || b.Stats().Shortened != 1 || len(d.ops) != 0 {
		t.Errorf("%d runs, %d bytes left, %+v", len(s.runs), len(got), b.Stats())
	}
}

func TestARunThatIsTooLargeOutsideItsTextsStillArrives(t *testing.T) {
	check := func(name string, spoil func(*runtypes.Run)) {
		t.Helper()
		s, d := newLangsmith(t), new(drops)
		s.info = strings.Replace(infoAll, `"size_limit_bytes":20971520`, `"size_limit_bytes":65536`, 1)
		s.answer = func(_ int, c call) *reply {
			if len(c.plain) > 80<<10 {
				return status(413)
			}
			return nil
		}
		r := ended(1)
		spoil(r)
		export(t, newTestClient(t, config(s, d)), post(r))
		if len(s.runs) != 1 || len(d.ops) != 0 {
			t.Fatalf("%s: %d arrived, dropped %v", name, len(s.runs), d.why)
		}
		if extra := s.field(r.ID.String(), "extra"); !strings.Contains(extra, `"thread_id":"thread"`) || !strings.Contains(extra, `"ls_integration":"test"`) {
			t.Errorf("%s: it does not say what it is: %.300s", name, extra)
		}
		if s.field(r.ID.String(), "dotted_order") != `"`+r.DottedOrder+`"` {
			t.Errorf("%s: dotted order %s", name, s.field(r.ID.String(), "dotted_order"))
		}
	}
	check("name", func(r *runtypes.Run) { r.Name = strings.Repeat("n", 1<<20) })
	check("tags", func(r *runtypes.Run) {
		for n := range 1 << 16 {
			r.Tags = append(r.Tags, fmt.Sprint("tag", n))
		}
	})
	check("one member of the metadata", func(r *runtypes.Run) {
		r.Metadata = map[string]any{"list": make([]int, 1<<19)}
	})
	check("many members of the metadata", func(r *runtypes.Run) {
		r.Metadata = map[string]any{}
		for n := range 1 << 16 {
			r.Metadata[fmt.Sprint("key", n)] = n
		}
	})
}

func TestARunWeighsWhatItHolds(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	check := func(name string, fill func(*runtypes.Run)) {
		t.Helper()
		r := pending(1)
		fill(r)
		if got := weight(r); got < 1<<20 || got > 2<<20 {
			t.Errorf("%s: %d bytes", name, got)
		}
	}
	check("name", func(r *runtypes.Run) { r.Name = big })
	check("tags", func(r *runtypes.Run) { r.Tags = []string{big} })
	check("JSON", func(r *runtypes.Run) { r.Metadata = map[string]any{"a": json.RawMessage(big)} })
	check("nested", func(r *runtypes.Run) {
		r.Metadata = map[string]any{"a": map[string]any{"b": []any{map[string]any{"c": []string{big}}}}}
	})
}

func TestAValueThatHoldsItselfCostsItsRunAlone(t *testing.T) {
	once := map[string]any{}
	once["a"] = once
	often := map[string]any{} // to look at all of it, even a few levels deep, takes for ever
	often["a"], often["b"], often["c"] = often, often, []any{often, often}
	check := func(name string, value map[string]any, redact func(*runtypes.Run) error) {
		t.Run(name, func(t *testing.T) {
			tune := func(c *Config) { c.Redact = redact }
			batching(t, tune, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
				bad := pending(0)
				bad.Metadata = value
				submit(t, b, append(posts(1, 3), post(bad))...)
				if err := b.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				var fault *runtypes.FieldError
				if len(s.runs) != 2 || len(d.why) != 1 || !errors.As(d.why[0], &fault) || fault.Run != bad.ID || fault.Field != "extra" {
					t.Errorf("%d runs, dropped: %v", len(s.runs), d.why)
				}
			})
		})
	}
	for name, redact := range map[string]func(*runtypes.Run) error{"built-in rules": nil, "the caller's": func(*runtypes.Run) error { return nil }, "none": NoRedaction} {
		check("once, "+name, once, redact)
		check("often, "+name, often, redact)
	}
}
