package exporter

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/runtypes"
)

// refuse answers code to every request that holds one of the ops.
func refuse(code int, bad ...runtypes.Op) func(int, call) *reply {
	return func(_ int, c call) *reply {
		for _, name := range names(bad) {
			if slices.Contains(c.ops, name) {
				return status(code)
			}
		}
		return nil
	}
}

func TestAPoisonedRunIsDroppedAloneAndTheOthersKeepTheirOrder(t *testing.T) {
	for _, code := range []int{400, 422} {
		s, d := newLangsmith(t), new(drops)
		ops := posts(0, 100)
		s.answer = refuse(code, ops[63])
		c := newTestClient(t, config(s, d))
		export(t, c, ops...)
		if diff := cmp.Diff(names(ops[63:64]), names(d.ops)); diff != "" {
			t.Error(diff)
		}
		var refused *StatusError
		if !errors.As(d.why[0], &refused) || refused.Status != code || refused.Message != "scripted" || d.why[0].Reason != ReasonRejected {
			t.Errorf("dropped because %v", d.why[0])
		}
		var arrived []string
		for _, c := range s.calls {
			if !slices.Contains(c.ops, names(ops)[63]) {
				arrived = append(arrived, c.ops...)
			}
		}
		if diff := cmp.Diff(slices.Delete(names(ops), 63, 64), arrived); diff != "" {
			t.Error(diff)
		}
		if len(s.calls) > 16 {
			t.Errorf("%d requests to find one run in a hundred", len(s.calls))
		}
	}
}

func TestARefusedKeyStopsThePass(t *testing.T) {
	for code, want := range map[int]error{401: ErrUnauthorized, 403: ErrForbidden} {
		s, d := newLangsmith(t), new(drops)
		s.answer = func(int, call) *reply { return status(code) }
		cfg := config(s, d)
		cfg.MaxBatch = 2
		rest, err := newTestClient(t, cfg).Export(t.Context(), posts(0, 5))
		if !errors.Is(err, want) || len(rest) != 5 || len(s.calls) != 1 || len(d.ops) != 0 {
			t.Errorf("%d: rest %d, %d requests, %d dropped: %v", code, len(rest), len(s.calls), len(d.ops), err)
		}
	}
}

func TestWithoutTheMultipartEndpointTheOtherIsUsedFromThenOn(t *testing.T) {
	s := newLangsmith(t)
	s.answer = func(_ int, c call) *reply {
		if c.path == pathMultipart {
			return status(404)
		}
		return nil
	}
	c := newTestClient(t, config(s, nil))
	export(t, c, append(posts(0, 2), patch(ended(7)))...)
	export(t, c, posts(2, 3)...)
	var paths []string
	for _, c := range s.calls {
		paths = append(paths, c.path)
	}
	if diff := cmp.Diff([]string{pathMultipart, pathBatch, pathBatch}, paths); diff != "" {
		t.Error(diff)
	}
	if len(s.runs) != 4 || s.field(ended(7).ID.String(), "outputs") != `{"done":7}` {
		t.Errorf("arrived: %v", s.runs)
	}
}

func TestAnEndpointThatHasNeitherIsAnErrorAndTeachesNothing(t *testing.T) {
	s := newLangsmith(t)
	s.answer = func(n int, _ call) *reply {
		if n < 2 {
			return status(404)
		}
		return nil
	}
	c := newTestClient(t, config(s, nil))
	rest, err := c.Export(t.Context(), posts(0, 2))
	var refused *StatusError
	if !errors.As(err, &refused) || refused.Status != 404 || len(rest) != 2 {
		t.Errorf("rest %d: %v", len(rest), err)
	}
	export(t, c, rest...)
	if got := s.calls[2].path; got != pathMultipart {
		t.Errorf("then tried %s", got)
	}
}

func TestRefusedCodingsAreLeftOutFromThenOn(t *testing.T) {
	check := func(want ...string) {
		synctest.Test(t, func(t *testing.T) {
			s := newLangsmith(t)
			s.info = infoAll
			var got []string
			s.answer = func(_ int, c call) *reply {
				as := c.header.Get("Content-Encoding")
				got = append(got, as)
				if as != want[len(want)-1] {
					return status(415)
				}
				return nil
			}
			c := newTestClient(t, config(s, nil))
			c.Warm()
			synctest.Wait()
			export(t, c, posts(0, 5)...)
			export(t, c, posts(5, 10)...)
			c.Close()
			if diff := cmp.Diff(append(want, want[len(want)-1]), got); diff != "" || len(s.runs) != 10 {
				t.Errorf("%d runs, codings:\n%s", len(s.runs), diff)
			}
		})
	}
	check("zstd")
	check("zstd", "gzip")
	check("zstd", "gzip", "")
}

// bodyLimit answers 413 above n bytes.
func bodyLimit(n int) func(int, call) *reply {
	return func(_ int, c call) *reply {
		if len(c.body) > n {
			return status(413)
		}
		return nil
	}
}

func TestARequestThatIsTooLargeIsHalvedAndTheNextIsBuiltToFit(t *testing.T) {
	s, d := newLangsmith(t), new(drops)
	s.answer = bodyLimit(80 << 10)
	ops := func(from, to int) []runtypes.Op {
		list := posts(from, to)
		for i := range list {
			list[i].Run.Inputs = json.RawMessage(`{"q":"` + strings.Repeat("x", 4<<10) + `"}`)
		}
		return list
	}
	c := newTestClient(t, config(s, d))
	export(t, c, ops(0, 60)...)
	if len(s.runs) != 60 || len(d.ops) != 0 {
		t.Fatalf("%d runs, %d dropped", len(s.runs), len(d.ops))
	}
	before := len(s.calls)
	export(t, c, ops(60, 120)...)
	for _, c := range s.calls[before:] {
		if len(c.body) > 80<<10 {
			t.Errorf("a request of %d bytes again", len(c.body))
		}
	}
}

func TestARunThatIsTooLargeIsShortenedAndSaysSo(t *testing.T) {
	check := func(name string, cfg func(*Config), answer func(int, call) *reply) {
		t.Run(name, func(t *testing.T) {
			s, d := newLangsmith(t), new(drops)
			s.answer = answer
			conf := config(s, d)
			cfg(&conf)
			big := ended(1)
			big.Inputs = json.RawMessage(`{"small":"kept","n":12345678901234567,"big":"` + strings.Repeat(`é\n😀\ud83d\ude00`, 12_000) + `"}`)
			c := newTestClient(t, conf)
			export(t, c, post(big), post(pending(2)))
			id := big.ID.String()
			if len(d.ops) != 0 || len(s.runs) != 2 {
				t.Fatalf("%d runs, dropped %v", len(s.runs), d.why)
			}
			if got := s.field(id, "inputs"); !strings.HasPrefix(got, `{"small":"kept","n":12345678901234567,"big":"é`) ||
				!strings.HasSuffix(got, ` bytes left out]"}`) {
				t.Errorf("inputs %.80s … %s", got, got[max(0, len(got)-80):])
			}
			if got := s.field(id, "outputs"); got != `{"done":1}` {
				t.Errorf("outputs %s", got)
			}
			if c.Stats().Shortened != 1 {
				t.Errorf("stats %+v", c.Stats())
			}
		})
	}
	check("by the limit", func(c *Config) { c.MaxBytes = 100 << 10 }, nil)
	check("by the server", func(*Config) {}, bodyLimit(100<<10))
	check("far", func(*Config) {}, bodyLimit(6<<10))
}

func TestARunOfTooManySmallThingsLosesTheFieldNotItself(t *testing.T) {
	s := newLangsmith(t)
	s.answer = bodyLimit(8 << 10)
	big := pending(1)
	big.Inputs = json.RawMessage(`{"list":[` + strings.Repeat(`1,`, 50_000) + `1]}`)
	export(t, newTestClient(t, config(s, nil)), post(big))
	if got := s.field(big.ID.String(), "inputs"); got != `{"tracesmith_shortened":"inputs of 100012 bytes left out: too large for the server"}` {
		t.Errorf("inputs %.100s", got)
	}
	if !strings.Contains(s.field(big.ID.String(), "extra"), `"thread_id":"thread"`) {
		t.Error("the identity is gone")
	}
}

func TestARunThatIsTooLargeWhateverIsCutIsDropped(t *testing.T) {
	s, d := newLangsmith(t), new(drops)
	s.answer = bodyLimit(10)
	export(t, newTestClient(t, config(s, d)), posts(0, 2)...)
	if len(d.ops) != 2 || d.why[0].Reason != ReasonTooLarge {
		t.Errorf("dropped %v", d.why)
	}
}

func TestConflictOfARequestIsResolvedOpByOp(t *testing.T) {
	s := newLangsmith(t)
	s.conflict = true
	c := newTestClient(t, config(s, nil))
	ops := posts(0, 5)
	export(t, c, ops[2])
	export(t, c, ops...)
	if len(s.runs) != 5 {
		t.Errorf("%d runs of 5", len(s.runs))
	}
	if got := c.Stats(); got.Delivered != 6 || len(got.Dropped) != 0 {
		t.Errorf("stats %+v", got)
	}
}

func TestMergedPostThatMeetsItsPostSendsThePatch(t *testing.T) {
	s := newLangsmith(t)
	s.conflict = true
	c := newTestClient(t, config(s, nil))
	begin, end := pending(1), ended(1)
	begin.Metadata = map[string]any{"mine": "yes"}
	export(t, c, post(begin)) // then a crash before that was noted
	for range 2 {             // and another after the patch
		export(t, c, post(begin), patch(end), post(pending(2)))
		id := begin.ID.String()
		if s.field(id, "outputs") != `{"done":1}` || s.field(id, "end_time") == "" || s.field(id, "inputs") != `{"n":1}` {
			t.Errorf("run %s", s.runs[id])
		}
		if s.runs[id]["patch"]["inputs"] != nil || !strings.Contains(s.field(id, "extra"), `"mine":"yes"`) {
			t.Errorf("patch %v", s.runs[id]["patch"])
		}
	}
	if len(s.runs) != 2 {
		t.Errorf("%d runs", len(s.runs))
	}
}

func TestACompletePostOfARunThatHasBegunBringsItsEnd(t *testing.T) {
	s := newLangsmith(t)
	s.conflict = true
	c := newTestClient(t, config(s, nil))
	const runs = 50
	var ends []runtypes.Op
	for n := range runs {
		ends = append(ends, post(whole(n)))
	}
	export(t, c, posts(0, runs)...)
	export(t, c, ends...)
	for n := range runs {
		if id := whole(n).ID.String(); s.field(id, "end_time") == "" || s.field(id, "outputs") == "" {
			t.Errorf("run %d: %v", n, s.runs[id])
		}
	}
	if got := c.Stats(); got.Delivered != 2*runs || got.Requests != 1+1+runs+1 {
		t.Errorf("stats %+v", got)
	}
}

func TestPatchOwedAfterAConflictIsHandedBackAlone(t *testing.T) {
	s := newLangsmith(t)
	s.conflict = true
	s.answer = func(_ int, c call) *reply {
		if strings.HasPrefix(c.ops[0], "patch") {
			return status(401)
		}
		return nil
	}
	c := newTestClient(t, config(s, nil))
	export(t, c, post(pending(1)))
	rest, err := c.Export(t.Context(), []runtypes.Op{post(pending(1)), patch(ended(1)), post(pending(2))})
	want := names([]runtypes.Op{patch(ended(1))})
	if diff := cmp.Diff(want, names(rest)); diff != "" || err == nil {
		t.Error(err, diff)
	}
}

func TestLostAcknowledgementLosesNothing(t *testing.T) {
	scripted(t, first(1, &reply{store: true, broken: true}), func(t *testing.T, s *langsmith, c *Client) {
		s.conflict = true
		ops := append(posts(0, 10), patch(ended(3)))
		export(t, c, ops...)
		if len(s.runs) != 10 || s.field(ended(3).ID.String(), "outputs") == "" {
			t.Errorf("runs %v", s.runs)
		}
	})
}

// A drainer that is killed anywhere replays from an older checkpoint. Whatever
// the server did with the requests before, in the end it holds every run whole.
func TestReplayAfterACrashAnywhereEndsInTheSameRuns(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			s := newLangsmith(t)
			s.conflict = true
			s.answer = func(int, call) *reply {
				switch rng.IntN(6) {
				case 0:
					return &reply{store: true, broken: true}
				case 1:
					return status(503)
				}
				return nil
			}
			var history []runtypes.Op
			for n := range 8 {
				history = append(history, post(pending(n)))
				if n >= 2 {
					history = append(history, patch(ended(n-2)))
				}
			}
			history = append(history, patch(ended(6)), patch(ended(7)))
			committed := 0
			for committed < len(history) {
				cfg := config(s, nil)
				cfg.MaxBatch = 1 + rng.IntN(4)
				c := newTestClient(t, cfg)
				ctx, kill := context.WithTimeout(t.Context(), time.Duration(rng.IntN(3000))*time.Millisecond)
				seen := committed + 1 + rng.IntN(len(history)-committed)
				if _, err := c.Export(ctx, history[committed:seen]); err == nil && rng.IntN(2) == 0 {
					committed = seen
				}
				kill()
				c.Close()
			}
			for n := range 8 {
				id := pending(n).ID.String()
				if s.field(id, "inputs") == "" || s.field(id, "outputs") == "" || s.field(id, "end_time") == "" {
					t.Errorf("seed %d: run %d ends as %s", seed, n, s.runs[id])
				}
			}
		})
	}
}
