package exporter

import (
	"testing"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
)

// The buckets are those of LangSmith's own JS client (0.12.0), in millionths.
func TestTracesAreSampledAsLangSmithsClientsDo(t *testing.T) {
	check := func(id string, bucket float64) {
		t.Helper()
		below, above := bucket/1e6, (bucket+1)/1e6
		if sampled(&below, uuid.MustParse(id)) || !sampled(&above, uuid.MustParse(id)) {
			t.Errorf("%s is not in bucket %v", id, bucket)
		}
	}
	check("0193e0a8-7c1f-7b3a-8d2e-1f0a9b8c7d6e", 769189)
	check("0193e0a8-7c1f-7b3a-8d2e-000000000001", 68507)
	check("019ad000-0000-7000-8000-0000000000ff", 94264)
	check("01a22aa0-b950-7f8f-a3b8-183d3a0cbba9", 779939)
	check("0e01bf50-474d-4536-810f-67d3ee7ea3e7", 436609)
	all, none := 1.0, 0.0
	id := idgen.New()
	if !sampled(nil, id) || !sampled(&all, id) || sampled(&none, id) {
		t.Error("a rate of one is not all, or of zero not none")
	}
}

func TestASampledTraceIsWhole(t *testing.T) {
	half := 0.5
	batching(t, func(c *Config) { c.Sampling = &half }, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		whole := 0
		for n := range 60 {
			for _, op := range turn(n, 3) {
				submit(t, b, op)
			}
		}
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		for n := range 60 {
			found := 0
			for _, op := range turn(n, 3) {
				if s.runs[op.Run.ID.String()] != nil {
					found++
				}
			}
			switch found {
			case 8:
				whole++
			case 0:
			default:
				t.Errorf("trace %d has %d writes", n, found)
			}
		}
		if whole < 10 || whole > 50 {
			t.Errorf("%d of 60 traces kept", whole)
		}
		if got := b.Stats().Sampled; got != int64(60-whole)*8 || len(d.ops) != 0 {
			t.Errorf("%d ops left out, %d reported as lost", got, len(d.ops))
		}
	})
}

func TestWhatIsHiddenIsNotSent(t *testing.T) {
	s := newLangsmith(t)
	cfg := config(s, nil)
	cfg.HideInputs, cfg.HideOutputs, cfg.HideMetadata = true, true, true
	run := ended(1)
	run.Inputs = pending(1).Inputs
	export(t, newTestClient(t, cfg), post(run))
	id := run.ID.String()
	if in, out, extra := s.field(id, "inputs"), s.field(id, "outputs"), s.field(id, "extra"); in != "{}" || out != "{}" || extra != `{"metadata":{}}` {
		t.Errorf("inputs %s, outputs %s, extra %s", in, out, extra)
	}
}
