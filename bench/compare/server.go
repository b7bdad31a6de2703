package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// server takes runs as LangSmith does and counts what it is sent.
type server struct {
	url  string
	http *httptest.Server
	info string
	zstd *zstd.Decoder

	bad   misbehaviour // nil: none
	began time.Time

	mu   sync.Mutex
	seen int // requests
	runs map[string]*arrival
	got  counts
}

// arrival is what came of a run.
type arrival struct{ posts, patches, ends int }

// counts is what the server has seen.
type counts struct {
	requests         int
	wire, decoded    int64 // bytes
	lost, unended    int   // of the runs that were expected
	repeated, orphan int   // writes: a second time, a patch before its post
	refused          int   // requests that could not be read
}

func startServer(limit int) (*server, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxWindow(8<<20))
	if err != nil {
		return nil, err
	}
	s := &server{runs: map[string]*arrival{}, zstd: dec, began: time.Now()}
	s.info = fmt.Sprintf(`{"version":"0.16.0","batch_ingest_config":{"use_multipart_endpoint":true,"size_limit":%d,`+
		`"size_limit_bytes":20971520,"scale_up_qsize_trigger":1000,"scale_up_nthreads_limit":16,"scale_down_nempty_trigger":4},`+
		`"instance_flags":{"zstd_compression_enabled":true,"gzip_body_enabled":true}}`, limit)
	s.http = httptest.NewServer(s)
	s.url = s.http.URL
	return s, nil
}

// heal ends the misbehaviour, and the requests that still hang.
func (s *server) heal() {
	s.http.CloseClientConnections()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad = nil
}

func (s *server) stop() {
	s.http.CloseClientConnections()
	s.http.Close()
	s.zstd.Close()
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/info" {
		_, _ = io.WriteString(w, s.info) // a client that has gone asks again
		return
	}
	s.mu.Lock()
	s.seen++
	n, bad := s.seen, s.bad
	s.mu.Unlock()
	if bad != nil && s.misbehave(bad, w, r, n) {
		return
	}
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = s.take(r, raw)
	}
	var refusal refusal
	if errors.As(err, &refusal) {
		w.WriteHeader(int(refusal))
		_, _ = io.WriteString(w, `{"error":"scripted"}`)
		return
	}
	if err != nil {
		s.mu.Lock()
		s.got.refused++
		s.mu.Unlock()
		w.WriteHeader(http.StatusUnprocessableEntity)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
		return
	}
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"message":"Runs batch ingested"}`)
}

// write is one of a run's.
type write struct {
	verb, id string
	ended    bool
}

// take reads a request in full, as LangSmith would.
func (s *server) take(r *http.Request, raw []byte) error {
	body, err := s.decode(r.Header.Get("Content-Encoding"), raw)
	if err != nil {
		return err
	}
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	var writes []write
	for parts := multipart.NewReader(bytes.NewReader(body), params["boundary"]); ; {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		name := strings.Split(part.FormName(), ".")
		if len(name) < 2 || !json.Valid(content) {
			return fmt.Errorf("part %q", part.FormName())
		}
		if len(name) == 2 {
			var main struct {
				EndTime json.RawMessage `json:"end_time"`
			}
			if err := json.Unmarshal(content, &main); err != nil {
				return err
			}
			writes = append(writes, write{name[0], name[1], len(main.EndTime) > 0})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bad != nil {
		if status := s.bad.judge(s, writes); status != 0 {
			return refusal(status)
		}
	}
	s.got.requests++
	s.got.wire += int64(len(raw))
	s.got.decoded += int64(len(body))
	for _, w := range writes {
		s.store(w.verb, w.id, w.ended)
	}
	return nil
}

func (s *server) decode(coding string, raw []byte) ([]byte, error) {
	switch coding {
	case "zstd":
		return s.zstd.DecodeAll(raw, nil)
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}
	return raw, nil
}

func (s *server) store(verb, id string, ended bool) {
	run := s.runs[id]
	if run == nil {
		run = new(arrival)
		s.runs[id] = run
	}
	n := &run.patches
	if verb == "post" {
		n = &run.posts
	} else if run.posts == 0 {
		s.got.orphan++
	}
	if *n++; *n > 1 {
		s.got.repeated++
	}
	if ended {
		run.ends++
	}
}

// count compares what has come with what was sent.
func (s *server) count(ids []string) counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	for _, id := range ids {
		switch run := s.runs[id]; {
		case run == nil || run.posts == 0:
			got.lost++
		case run.ends == 0:
			got.unended++
		}
	}
	return got
}
