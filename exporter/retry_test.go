package exporter

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tracesmith/tracesmith/internal/patience"
)

// scripted runs f in a bubble, where pauses take no time, against a server that
// answers by script.
func scripted(t *testing.T, answer func(n int, c call) *reply, f func(t *testing.T, s *langsmith, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newLangsmith(t)
		s.answer = answer
		cfg := config(s, nil)
		cfg.MaxElapsed = time.Minute
		c := newTestClient(t, cfg)
		f(t, s, c)
		c.Close()
	})
}

// first answers the first n calls.
func first(n int, rep *reply) func(int, call) *reply {
	return func(i int, _ call) *reply {
		if i < n {
			return rep
		}
		return nil
	}
}

func TestTemporaryFailuresAreTriedAgainWithTheSameBytes(t *testing.T) {
	check := func(name string, rep *reply) {
		t.Run(name, func(t *testing.T) {
			scripted(t, first(3, rep), func(t *testing.T, s *langsmith, c *Client) {
				export(t, c, posts(0, 3)...)
				if len(s.calls) != 4 || len(s.runs) != 3 {
					t.Fatalf("%d requests, %d runs", len(s.calls), len(s.runs))
				}
				for _, again := range s.calls[1:] {
					if !bytes.Equal(again.body, s.calls[0].body) {
						t.Error("a retry carries other bytes")
					}
				}
				if got := c.Stats(); got.Retried != 3 || got.Requests != 4 {
					t.Errorf("stats %+v", got)
				}
			})
		})
	}
	for _, code := range []int{408, 425, 429, 500, 501, 502, 503, 504, 520, 599} {
		check(http.StatusText(code), status(code))
	}
	check("connection error", &reply{broken: true})
	check("web page", &reply{status: 200, header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, body: "<html>"})
}

func TestPausesGrow(t *testing.T) {
	var at []time.Time
	scripted(t, func(n int, _ call) *reply {
		at = append(at, time.Now())
		if n < 5 {
			return status(503)
		}
		return nil
	}, func(t *testing.T, _ *langsmith, c *Client) {
		export(t, c, posts(0, 1)...)
		for i := 1; i < len(at); i++ {
			pause, mean := at[i].Sub(at[i-1]), patience.FirstPause<<(i-1)
			if pause < mean/2 || pause > mean*3/2 {
				t.Errorf("pause %d is %v, want about %v", i, pause, mean)
			}
		}
	})
}

func TestRetryAfterIsAFloor(t *testing.T) {
	check := func(name, value, date string, want time.Duration) {
		t.Run(name, func(t *testing.T) {
			head := http.Header{"Retry-After": {value}}
			if date != "" {
				head.Set("Date", date)
			}
			scripted(t, first(1, &reply{status: 429, header: head}), func(t *testing.T, _ *langsmith, c *Client) {
				start := time.Now()
				export(t, c, posts(0, 1)...)
				if got := time.Since(start); got < want || got > want+time.Second {
					t.Errorf("waited %v, want %v", got, want)
				}
			})
		})
	}
	check("seconds", "17", "", 17*time.Second)
	// A bubble's clock starts at midnight, 1 January 2000.
	check("date", "Sat, 01 Jan 2000 00:00:20 GMT", "", 20*time.Second)
	check("date by the server's own clock", "Sat, 01 Jan 2022 00:00:25 GMT", "Sat, 01 Jan 2022 00:00:00 GMT", 25*time.Second)
	check("date in the past", "Fri, 31 Dec 1999 00:00:00 GMT", "", 0)
	check("unreadable", "soon", "", 0)
	check("negative", "-5", "", 0)
}

func TestRetryAfterThatDoesNotFitIsHandedOn(t *testing.T) {
	scripted(t, first(1, &reply{status: 429, header: http.Header{"Retry-After": {"120"}}}), func(t *testing.T, s *langsmith, c *Client) {
		start := time.Now()
		rest, err := c.Export(t.Context(), posts(0, 2))
		var later *TemporaryError
		if !errors.As(err, &later) || later.RetryAfter != 2*time.Minute || len(rest) != 2 {
			t.Errorf("rest %d, error %v", len(rest), err)
		}
		if len(s.calls) != 1 || time.Since(start) != 0 {
			t.Errorf("%d requests in %v", len(s.calls), time.Since(start))
		}
	})
}

func TestRetryAfterIsClamped(t *testing.T) {
	check := func(value string, want time.Duration) {
		t.Helper()
		if got := parseRetryAfter(value, "", someTime); got != want {
			t.Errorf("%q is %v, want %v", value, got, want)
		}
	}
	check("3601", time.Hour)
	check("99999999999999999999999", time.Hour)
	check("Fri, 31 Dec 2100 00:00:00 GMT", time.Hour)
	check(" 3 ", 3*time.Second)
	check("", 0)
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "5", "-1", "1e9", "18446744073709551616", "Sat, 01 Jan 2000 00:00:20 GMT", "Saturday, 01-Jan-00 00:00:20 GMT"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, value, date string) {
		if d := parseRetryAfter(value, date, someTime); d < 0 || d > retryAfterCap {
			t.Errorf("%q, %q: %v", value, date, d)
		}
	})
}

func TestMaxElapsedEndsAnOutage(t *testing.T) {
	for name, rep := range map[string]*reply{"refusing": {broken: true}, "answering 500": status(500), "hung": {hang: true}} {
		t.Run(name, func(t *testing.T) {
			scripted(t, func(int, call) *reply { return rep }, func(t *testing.T, _ *langsmith, c *Client) {
				start := time.Now()
				ops := posts(0, 3)
				rest, err := c.Export(t.Context(), ops)
				var later *TemporaryError
				if !errors.As(err, &later) || len(rest) != len(ops) {
					t.Errorf("rest %d, error %v", len(rest), err)
				}
				if d := time.Since(start); d > time.Minute {
					t.Errorf("went on for %v", d)
				}
			})
		})
	}
}

func TestWhatWasDeliveredBeforeAnOutageIsNotHandedBack(t *testing.T) {
	scripted(t, func(n int, _ call) *reply {
		if n > 0 {
			return status(503)
		}
		return nil
	}, func(t *testing.T, s *langsmith, c *Client) {
		c.cfg.MaxBatch = 2
		ops := posts(0, 5)
		rest, err := c.Export(t.Context(), ops)
		if err == nil || len(rest) != 3 || rest[0].Run != ops[2].Run || len(s.runs) != 2 {
			t.Errorf("rest %v, error %v", names(rest), err)
		}
	})
}

func TestContextIsObeyedAtOnce(t *testing.T) {
	cause := errors.New("enough")
	for name, rep := range map[string]*reply{"in a pause": status(503), "in a request": {hang: true}} {
		t.Run(name, func(t *testing.T) {
			scripted(t, func(int, call) *reply { return rep }, func(t *testing.T, _ *langsmith, c *Client) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Millisecond, func() { cancel(cause) })
				start := time.Now()
				rest, err := c.Export(ctx, posts(0, 2))
				if !errors.Is(err, cause) || len(rest) != 2 || time.Since(start) != time.Millisecond {
					t.Errorf("rest %d after %v: %v", len(rest), time.Since(start), err)
				}
			})
		})
	}
}

func TestARateLimitHoldsEveryRequestBack(t *testing.T) {
	batching(t, func(c *Config) { c.InFlight, c.MaxBatch = 3, 1 }, func(t *testing.T, s *langsmith, _ *drops, b *Batcher) {
		begin, early := time.Now(), 0
		s.script(func(n int, _ call) *reply {
			if n == 0 {
				return &reply{status: 429, header: http.Header{"Retry-After": {"30"}}}
			}
			if time.Since(begin) < 30*time.Second {
				early++
			}
			return nil
		})
		submit(t, b, posts(0, 1)...)
		time.Sleep(time.Second)
		submit(t, b, posts(1, 20)...)
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if early > 0 {
			t.Errorf("%d requests left before the server wanted them", early)
		}
	})
}

func TestAnAttemptCutOffByTheDeadlineHidesNoCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLangsmith(t)
		cfg := config(s, nil)
		cfg.MaxElapsed = 10 * time.Second
		cause := errors.New("no such host")
		var calls atomic.Int32 // the client asks for /info beside its posts
		cfg.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodPost || calls.Add(1) == 1 {
				return nil, cause
			}
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		})}
		c := newTestClient(t, cfg)
		if _, err := c.Export(t.Context(), posts(0, 1)); calls.Load() < 2 || !errors.Is(err, cause) {
			t.Errorf("%d calls, %v", calls.Load(), err)
		}
		c.Close()
	})
}

func TestAPauseThatTookTooLongDoesNotHideWhyItWasMade(t *testing.T) {
	scripted(t, first(9, status(503)), func(t *testing.T, _ *langsmith, c *Client) {
		var late atomic.Int64
		c.now = func() time.Time { return time.Now().Add(time.Duration(late.Load())) }
		time.AfterFunc(patience.FirstPause/4, func() { late.Store(int64(time.Hour)) }) // the machine sleeps
		_, err := c.Export(t.Context(), posts(0, 1))
		var refused *StatusError
		if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable {
			t.Errorf("%v", err)
		}
	})
}
