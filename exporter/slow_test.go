package exporter

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// bulky are posts of 64 KiB that do not compress, since compression is off.
func bulky(from, to int) []runtypes.Op {
	ops := posts(from, to)
	for _, op := range ops {
		op.Run.Inputs = json.RawMessage(`{"text":"` + strings.Repeat("x", 64<<10) + `"}`)
	}
	return ops
}

func TestARequestThatTakesTooLongIsSentInPartsAndTheNextIsBuiltToFit(t *testing.T) {
	for name, slow := range map[string]*reply{"no answer": {hang: true}, "the server's time was up": status(408)} {
		synctest.Test(t, func(t *testing.T) {
			s, d := newLangsmith(t), new(drops)
			s.conflict = true
			s.answer = func(_ int, c call) *reply {
				if len(c.plain) > 1<<20 { // more than the uplink brings across in time
					return slow
				}
				return nil
			}
			cfg := config(s, d)
			cfg.NoCompression = true
			c := newTestClient(t, cfg)
			start := time.Now()
			export(t, c, bulky(0, 60)...)
			if len(s.runs) != 60 || len(d.ops) != 0 {
				t.Errorf("%s: %d arrived, %d dropped", name, len(s.runs), len(d.ops))
			}
			if took := time.Since(start); took > DefaultMaxElapsed {
				t.Errorf("%s: %v", name, took)
			}
			before := len(s.calls)
			export(t, c, bulky(60, 120)...)
			for _, each := range s.calls[before:] {
				if len(each.plain) > 2<<20 {
					t.Errorf("%s: afterwards a request of %d bytes", name, len(each.plain))
				}
			}
		})
	}
}

func TestAHungServerIsGivenUpInTimeHoweverOftenARequestIsSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLangsmith(t)
		s.answer = always(&reply{hang: true})
		cfg := config(s, nil)
		cfg.NoCompression = true
		c := newTestClient(t, cfg)
		start := time.Now()
		rest, err := c.Export(t.Context(), bulky(0, 60))
		var later *TemporaryError
		if !errors.As(err, &later) || len(rest) != 60 {
			t.Errorf("%d left: %v", len(rest), err)
		}
		if took := time.Since(start); took > DefaultMaxElapsed+time.Second {
			t.Errorf("after %v", took)
		}
	})
}

func TestRequestsGrowAgainOnceTheyGetThrough(t *testing.T) {
	var s server
	cfg := new(Config)
	s.slow(400 << 10)
	if _, got := s.limits(cfg); got != 200<<10 {
		t.Errorf("%d bytes after a timeout", got)
	}
	s.swift(10 << 10) // says nothing about large ones
	if _, got := s.limits(cfg); got != 200<<10 {
		t.Errorf("%d bytes after a small request", got)
	}
	for range 8 * enoughSwift {
		_, got := s.limits(cfg)
		s.swift(got)
	}
	if _, got := s.limits(cfg); got != DefaultMaxBytes {
		t.Errorf("%d bytes in the end", got)
	}
}

func TestAttachmentsOutliveAnEndpointThatIsAway(t *testing.T) {
	s := newLangsmith(t)
	s.answer = func(n int, _ call) *reply {
		if n < 2 { // neither endpoint is there: a server that is being replaced
			return status(404)
		}
		return nil
	}
	run := ended(1)
	run.Attachments = []runtypes.Attachment{{Name: "a", MIMEType: "text/plain", Data: []byte("kept")}}
	c := newTestClient(t, config(s, nil))
	items := fold([]runtypes.Op{post(run)})
	if err := c.export(t.Context(), items); err == nil {
		t.Fatal("delivered")
	}
	if err := c.export(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	if last := s.calls[len(s.calls)-1]; !bytes.Contains(last.plain, []byte("kept")) || c.Stats().Detached != 0 {
		t.Errorf("%s, %d detached", last.plain, c.Stats().Detached)
	}
}
