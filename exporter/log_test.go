package exporter

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestContentNeverReachesALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := newLangsmith(t)
		s.answer = func(n int, _ call) *reply {
			return &reply{status: []int{503, 422, 413}[n%3], body: `{"error":"cannot take hunter2"}`}
		}
		cfg := config(s, nil)
		cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		calls := 0
		cfg.Redact = func(*runtypes.Run) error {
			if calls++; calls%3 == 0 {
				return errors.New("no rule for hunter2")
			}
			return nil
		}
		c := newTestClient(t, cfg)
		var ops []runtypes.Op
		for n := range 20 {
			r := ended(n)
			r.Inputs = json.RawMessage(`{"q":"hunter2` + strings.Repeat("x", 1000) + `"}`)
			r.Name, r.Error = "hunter2", "hunter2"
			r.Metadata = map[string]any{"hunter2": "hunter2"}
			ops = append(ops, post(r))
		}
		export(t, c, ops...)
		synctest.Wait()
		c.Close()
		if log.Len() == 0 || strings.Contains(log.String(), "hunter2") || strings.Contains(c.Stats().LastError, "hunter2") {
			t.Errorf("log:\n%s\nlast error %s", log.String(), c.Stats().LastError)
		}
	})
}

func TestDropsOfOneReasonAreWarnedOfOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := newLangsmith(t)
		cfg := config(s, nil)
		cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		cfg.Redact = func(*runtypes.Run) error { return errBroken }
		c := newTestClient(t, cfg)
		export(t, c, posts(0, 50)...)
		time.Sleep(quietTime)
		export(t, c, posts(50, 100)...)
		c.Close()
		if got := strings.Count(log.String(), "ops dropped"); got != 2 || !strings.Contains(log.String(), "total=51") {
			t.Errorf("%d warnings:\n%s", got, log.String())
		}
		if got := c.Stats().Dropped[ReasonRedaction]; got != 100 {
			t.Errorf("%d counted", got)
		}
	})
}
