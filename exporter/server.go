package exporter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	infoTimeout = 10 * time.Second
	infoRetry   = time.Minute // a failure is not asked about again sooner
	minBytes    = 64 << 10    // no server's word brings the size of a request below it
	enoughSwift = 16          // requests that get through before larger ones are tried
)

// server is what is known of the other side: what it said in /info and what its
// refusals have taught. Nothing is asked on the path of a request.
type server struct {
	mu       sync.Mutex
	info     *info         // nil: not known yet
	asking   chan struct{} // closed when the question under way is over; nil: none
	askAgain time.Time

	plain       bool // as configured
	noMultipart bool // answered 404
	noZstd      bool // answered 415
	noGzip      bool // answered 415
	bytesCap    int  // lowered by 413; 0: not
	slowCap     int  // lowered by timeouts, raised by what gets through; 0: not
	swiftOnes   int  // requests of about that size since it was set
}

// info is the part of GET /info that an exporter needs.
type info struct {
	BatchIngestConfig struct {
		UseMultipartEndpoint *bool `json:"use_multipart_endpoint"`
		SizeLimit            int   `json:"size_limit"`
		SizeLimitBytes       int   `json:"size_limit_bytes"`
	} `json:"batch_ingest_config"`
	InstanceFlags struct {
		ZstdCompressionEnabled bool `json:"zstd_compression_enabled"`
		GzipBodyEnabled        bool `json:"gzip_body_enabled"`
	} `json:"instance_flags"`
}

// multipart reports whether the preferred endpoint is there.
func (s *server) multipart() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noMultipart {
		return false
	}
	return s.info == nil || s.info.BatchIngestConfig.UseMultipartEndpoint == nil ||
		*s.info.BatchIngestConfig.UseMultipartEndpoint
}

// coding is the best that the server said it takes, and has not refused since.
func (s *server) coding() coding {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.info == nil || s.plain:
		return codingNone
	case s.info.InstanceFlags.ZstdCompressionEnabled && !s.noZstd:
		return codingZstd
	case s.info.InstanceFlags.GzipBodyEnabled && !s.noGzip:
		return codingGzip
	}
	return codingNone
}

// plainest is the coding that every server takes but one that has refused it.
func (s *server) plainest() coding {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plain || s.noGzip {
		return codingNone
	}
	return codingGzip
}

// limits returns how many ops and bytes a request may hold: the lowest of what is
// configured, what the server states and what it has refused.
func (s *server) limits(cfg *Config) (ops, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ops, bytes = cfg.MaxBatch, cfg.MaxBytes
	if s.info != nil {
		ops = lowest(ops, s.info.BatchIngestConfig.SizeLimit)
		if stated := s.info.BatchIngestConfig.SizeLimitBytes; stated > 0 {
			bytes = lowest(bytes, max(stated, minBytes)) // less would be a mistake that cuts every run
		}
	}
	if ops == 0 {
		ops = DefaultMaxBatch
	}
	if bytes == 0 {
		bytes = DefaultMaxBytes
	}
	return ops, lowest(lowest(bytes, s.bytesCap), s.slowCap)
}

// lowest is the smaller of two limits, 0 meaning none.
func lowest(a, b int) int {
	if a <= 0 || b > 0 && b < a {
		return max(b, 0)
	}
	return a
}

// refuseMultipart remembers whether the preferred endpoint is missing.
func (s *server) refuseMultipart(missing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noMultipart = missing
}

// refuseCoding remembers that bodies of a coding are refused.
func (s *server) refuseCoding(c coding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noZstd = s.noZstd || c == codingZstd
	s.noGzip = s.noGzip || c == codingGzip
}

// refuseSize remembers that a request of that many bytes was too large, so that
// the next is built to fit.
func (s *server) refuseSize(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytesCap = lowest(s.bytesCap, max(bytes/2, minBytes))
}

// slow has the next requests built half as large as one that took too long.
func (s *server) slow(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slowCap, s.swiftOnes = lowest(s.slowCap, max(bytes/2, minBytes)), 0
}

func (s *server) slowLimit() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slowCap
}

// swift takes that back, step by step, as requests of such a size get through.
func (s *server) swift(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slowCap == 0 || bytes < s.slowCap/2 {
		return
	}
	if s.swiftOnes++; s.swiftOnes >= enoughSwift {
		s.slowCap, s.swiftOnes = s.slowCap*2, 0
	}
	if s.slowCap > DefaultMaxBytes {
		s.slowCap = 0
	}
}

// Warm asks the server in the background what it takes. Export does so too, and waits
// a moment for the answer before a large request; what is small goes uncompressed
// until then. A caller that has work to do before its first Export calls Warm ahead
// of it.
func (c *Client) Warm() {
	s := &c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.cfg.Dialect != nil || s.info != nil || s.asking != nil || c.now().Before(s.askAgain) || c.life.Err() != nil {
		return
	}
	s.asking = make(chan struct{})
	c.background.Go(func() {
		got, err := c.fetchInfo()
		s.mu.Lock()
		defer s.mu.Unlock()
		close(s.asking)
		s.asking = nil
		if err != nil {
			s.askAgain = c.now().Add(infoRetry)
			c.cfg.Logger.Debug("server's limits not known", "error", err)
			return
		}
		s.info = got
	})
}

// await waits for an answer to Warm's question, but no longer than a request would
// wait for company.
func (c *Client) await(ctx context.Context, longest time.Duration) {
	c.server.mu.Lock()
	asking := c.server.asking
	c.server.mu.Unlock()
	if asking == nil {
		return
	}
	t := time.NewTimer(longest)
	defer t.Stop()
	select {
	case <-asking:
	case <-t.C:
	case <-ctx.Done():
	}
}

func (c *Client) fetchInfo() (*info, error) {
	ctx, cancel := context.WithTimeout(c.life, infoTimeout)
	defer cancel()
	answer, err := c.http.do(ctx, http.MethodGet, &request{path: "/info"})
	if err != nil {
		return nil, err
	}
	switch {
	case answer.status != http.StatusOK:
		return nil, answer.refusal("/info")
	case answer.page:
		return nil, errWebPage
	}
	got := new(info)
	var odd *json.UnmarshalTypeError // of one member: the others are read all the same
	if err := json.Unmarshal(answer.body, got); err != nil && !errors.As(err, &odd) {
		return nil, fmt.Errorf("exporter: /info: %w", err)
	}
	return got, nil
}
