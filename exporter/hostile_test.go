package exporter

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// poisoned is the op of the turns' that no server takes: a post.
const poisoned = 41

// hostile answers with everything that a server, or what stands before it, may say, and
// never takes the poison.
func hostile(rng *rand.Rand, poison runtypes.Op) func(int, call) *reply {
	pauses := []string{"", "2", "-5", "99999999999999999999999", "soon", "Mon, 30 Nov 2026 04:05:06 GMT"}
	return func(n int, c call) *reply {
		switch rng.IntN(16) {
		case 0:
			return status(503)
		case 1:
			return &reply{broken: true}
		case 2:
			if !slices.Contains(c.ops, names([]runtypes.Op{poison})[0]) {
				return &reply{broken: true, store: true}
			}
		case 3:
			return &reply{status: 429, header: http.Header{"Retry-After": {pauses[rng.IntN(len(pauses))]}}}
		case 4:
			if len(c.ops) > 1 {
				return status(413)
			}
		case 5:
			return &reply{status: 200, body: "<html>log in"}
		case 6:
			return status(404)
		case 7:
			return status(415)
		case 8:
			return status(401)
		case 9:
			if rng.IntN(8) == 0 {
				return &reply{hang: true}
			}
		}
		return refuse(422, poison)(n, c)
	}
}

// besieged has turns submitted to a Batcher while its server is hostile, one run in them
// poison. between may put another Batcher in the place of the one that it is given.
func besieged(t *testing.T, seed uint64, tune func(*Config), between func(*testing.T, *rand.Rand, *Batcher) *Batcher, f func(t *testing.T, s *langsmith, d *drops, b *Batcher, all []runtypes.Op)) {
	batching(t, func(c *Config) {
		c.InFlight, c.MaxBatch, c.QueueBytes, c.MaxElapsed = 4, 7, 64<<10, 10*time.Second
		tune(c)
	}, func(t *testing.T, s *langsmith, d *drops, b *Batcher) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var all []runtypes.Op
		for n := range 30 {
			all = append(all, turn(n, 3)...)
		}
		s.mu.Lock()
		s.conflict, s.info, s.answer = true, infoAll, hostile(rand.New(rand.NewPCG(seed, 2)), all[poisoned])
		s.mu.Unlock()
		for _, op := range all {
			_ = b.Submit(op) // what it refuses is counted
			if rng.IntN(5) == 0 {
				time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
			}
			if rng.IntN(100) == 0 {
				b = between(t, rng, b)
			}
		}
		f(t, s, d, b, all)
	})
}

func TestUnderSiegeEveryOpArrivesOrIsReported(t *testing.T) {
	for seed := range uint64(20) {
		stay := func(_ *testing.T, _ *rand.Rand, b *Batcher) *Batcher { return b }
		besieged(t, seed, func(*Config) {}, stay, func(t *testing.T, s *langsmith, d *drops, b *Batcher, all []runtypes.Op) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_ = b.Shutdown(ctx) // the deadline may pass
			stats, lost := b.Stats(), names(d.ops)
			sum := stats.Delivered
			for _, n := range stats.Dropped {
				sum += n
			}
			if sum != int64(len(all)) || len(lost) != len(all)-int(stats.Delivered) {
				t.Errorf("seed %d: of %d ops %d were reported: %+v", seed, len(all), len(lost), stats)
			}
			for i, name := range names(all) {
				id := all[i].Run.ID.String()
				switch arrived := s.runs[id]; {
				case arrived != nil && arrived["post"] == nil:
					t.Errorf("seed %d: a patch alone: %s", seed, name)
				case slices.Contains(lost, name):
				case arrived == nil, all[i].Verb == runtypes.Patch && s.field(id, "end_time") == "":
					t.Errorf("seed %d: neither there nor reported: %s", seed, name)
				}
			}
		})
	}
}

func TestUnderSiegeASpoolLosesNothingAcrossProcesses(t *testing.T) {
	for seed := range uint64(20) {
		var m *memory
		var cfg Config
		tune := func(c *Config) {
			m = new(memory)
			c.Spool, cfg = m, *c
		}
		next := func(t *testing.T, rng *rand.Rand, b *Batcher) *Batcher {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(2000))*time.Millisecond)
			defer cancel()
			_ = b.Shutdown(ctx) // what is left is in the spool
			m = m.adopted()
			c := cfg
			c.Spool = m
			b, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		besieged(t, seed, tune, next, func(t *testing.T, s *langsmith, d *drops, b *Batcher, all []runtypes.Op) {
			time.Sleep(time.Minute)
			s.script(refuse(422, all[poisoned]))
			time.Sleep(2 * retryAfterCap)
			if err := b.Shutdown(t.Context()); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			for _, op := range d.ops {
				if op.Run.ID != all[poisoned].Run.ID {
					t.Errorf("seed %d: dropped %s", seed, names([]runtypes.Op{op}))
				}
			}
			for _, op := range all {
				id := op.Run.ID.String()
				if whole := s.runs[id]["post"] != nil && s.field(id, "end_time") != ""; !whole && op.Run.ID != all[poisoned].Run.ID {
					t.Errorf("seed %d: run %s: %v", seed, id, s.runs[id])
				}
			}
			if left := m.left(t); left > 0 {
				t.Errorf("seed %d: %d left in the spool", seed, left)
			}
		})
	}
}
