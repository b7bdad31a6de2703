package cli

import (
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/tracesmith/tracesmith/internal/journal"
)

// witness keeps a copy of every request that a destination accepts: see sent.
type witness struct {
	next  http.RoundTripper
	state *journal.State
	log   *slog.Logger
	now   func() time.Time
}

// RoundTrip sends the request on. That its copy could not be kept stops nothing.
func (w *witness) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.next.RoundTrip(r)
	if err != nil || answer.StatusCode/100 != 2 || r.GetBody == nil || r.Method == http.MethodGet {
		return answer, err
	}
	if unkept := w.keep(r, answer.StatusCode); unkept != nil {
		w.log.Warn("not kept what was sent", "error", unkept.Error())
	}
	return answer, nil
}

// keep copies the request as it was before it was compressed. Both are large: neither is
// held in memory.
func (w *witness) keep(r *http.Request, status int) error {
	sent, err := r.GetBody()
	if err != nil {
		return err
	}
	defer sent.Close()
	plain := io.Reader(sent)
	switch r.Header.Get("Content-Encoding") {
	case "zstd":
		dec, err := zstd.NewReader(sent, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return err
		}
		defer dec.Close()
		plain = dec
	case "gzip":
		if plain, err = gzip.NewReader(sent); err != nil {
			return err
		}
	}
	return w.state.KeepSent(journal.Sent{
		At: w.now(), To: r.URL.Redacted(), ContentType: r.Header.Get("Content-Type"), Status: status,
	}, plain)
}
