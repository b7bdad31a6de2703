package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/exporter/spool"
)

// settings are what the environment asks for.
type settings struct {
	endpoint, corpus, ids, spool, profile string
	turns, in, out, rate, flush           int
	queueMB, inFlight                     int
	two, graceful, redact                 bool
	patience                              time.Duration // of the last flush
}

func settingsFrom(env func(string) string) (s settings, err error) {
	number := func(key string, fallback int) int {
		text := env(key)
		if text == "" {
			return fallback
		}
		n, wrong := strconv.Atoi(text)
		if wrong != nil {
			err = fmt.Errorf("%s: %w", key, wrong)
		}
		return n
	}
	s = settings{
		endpoint: env("LANGSMITH_ENDPOINT"), corpus: env("BENCH_CORPUS"), ids: env("BENCH_IDS"),
		spool: env("BENCH_SPOOL"), profile: env("BENCH_PROFILE"),
		turns: number("BENCH_TURNS", 1000), in: number("BENCH_IN", 2000), out: number("BENCH_OUT", 2000),
		rate: number("BENCH_RATE", 0), flush: number("BENCH_FLUSH", 0), queueMB: number("BENCH_QUEUE_MB", 0), inFlight: number("BENCH_IN_FLIGHT", 0),
		two: env("BENCH_MODE") != "one", graceful: env("BENCH_GRACEFUL") == "1", redact: env("BENCH_REDACT") == "1",
		patience: time.Duration(number("BENCH_PATIENCE", 120)) * time.Second,
	}
	return s, err
}

// batcher starts the exporter under test, and returns what ends its spool. It does
// not redact unless it is asked to, since the clients it is compared with do not.
func (s settings) batcher() (*exporter.Batcher, func() error, error) {
	cfg := exporter.Config{
		Endpoint: s.endpoint, APIKey: "bench-key", Project: "bench",
		QueueBytes: int64(s.queueMB) << 20, InFlight: s.inFlight,
	}
	if !s.redact {
		cfg.Redact = exporter.NoRedaction
	}
	done := func() error { return nil }
	if s.spool != "" {
		kept, err := spool.Open(spool.Config{Dir: s.spool})
		if err != nil {
			return nil, nil, err
		}
		cfg.Spool, done = kept, kept.Close
	}
	b, err := exporter.New(cfg)
	return b, done, err
}
