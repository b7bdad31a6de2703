package cli

import (
	"bytes"
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
	if body, unread := plainBody(r); unread != nil {
		w.log.Warn("not kept what was sent", "error", unread.Error())
	} else if unkept := w.state.KeepSent(journal.Sent{
		At: w.now(), To: r.URL.Redacted(), ContentType: r.Header.Get("Content-Type"), Status: answer.StatusCode, Body: body,
	}); unkept != nil {
		w.log.Warn("not kept what was sent", "error", unkept.Error())
	}
	return answer, nil
}

// maxPlain bounds what is kept of one request.
const maxPlain = 64 << 20

// plainBody is what was sent before it was compressed.
func plainBody(r *http.Request) ([]byte, error) {
	body, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var plain io.Reader = body
	switch r.Header.Get("Content-Encoding") {
	case "zstd":
		dec, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer dec.Close()
		plain = dec
	case "gzip":
		if plain, err = gzip.NewReader(body); err != nil {
			return nil, err
		}
	}
	var text bytes.Buffer
	_, err = io.Copy(&text, io.LimitReader(plain, maxPlain))
	return text.Bytes(), err
}
