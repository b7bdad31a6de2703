package exporter

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
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// langsmith is a strict stand-in for the server. It is an http.RoundTripper, so
// that tests in a synctest bubble need no socket, and an http.Handler.
type langsmith struct {
	t *testing.T

	mu    sync.Mutex
	calls []call                                           // of the ingest endpoints
	runs  map[string]map[string]map[string]json.RawMessage // id, verb, field

	info     string                     // body of /info; empty: 503
	infos    int                        // times it was asked
	conflict bool                       // 409 to a request as soon as one of its writes is known
	answer   func(n int, c call) *reply // scripts the n-th call; nil: as usual
}

// call is one ingest request.
type call struct {
	path   string
	header http.Header
	body   []byte // as sent
	plain  []byte
	ops    []string // "post ID", in the order of the body
	has    map[string]map[string]json.RawMessage
}

// reply is a scripted answer.
type reply struct {
	status int
	header http.Header
	body   string
	store  bool          // take the writes all the same
	broken bool          // no answer arrives
	hang   bool          // none ever will
	delay  time.Duration // before it arrives
}

var errBroken = errors.New("connection reset")

func newLangsmith(t *testing.T) *langsmith {
	return &langsmith{t: t, runs: map[string]map[string]map[string]json.RawMessage{}}
}

const infoAll = `{"version":"0.16.0","batch_ingest_config":{"use_multipart_endpoint":true,"size_limit":100,` +
	`"size_limit_bytes":20971520},"instance_flags":{"zstd_compression_enabled":true,"gzip_body_enabled":true}}`

// RoundTrip answers without a network.
func (s *langsmith) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	rec := httptest.NewRecorder()
	rep := s.handle(rec, r)
	if rep != nil && rep.hang {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if rep != nil {
		time.Sleep(rep.delay) // not under the lock: a bubble's clock stands while a mutex is waited for
	}
	if rep != nil && rep.broken {
		return nil, errBroken
	}
	return rec.Result(), nil
}

// ServeHTTP answers over a network.
func (s *langsmith) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rep := s.handle(w, r)
	if rep != nil && rep.hang {
		<-r.Context().Done()
	}
	if rep != nil && (rep.hang || rep.broken) {
		panic(http.ErrAbortHandler)
	}
}

func (s *langsmith) handle(w http.ResponseWriter, r *http.Request) *reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/info" {
		s.infos++
		if s.info == "" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		io.WriteString(w, s.info)
		return nil
	}
	c, err := readCall(r)
	if err != nil {
		s.t.Errorf("request LangSmith would refuse: %v", err)
		w.WriteHeader(http.StatusUnprocessableEntity)
		return nil
	}
	n := len(s.calls)
	s.calls = append(s.calls, c)
	if s.answer != nil {
		if rep := s.answer(n, c); rep != nil {
			if rep.store {
				s.store(c)
			}
			for key, values := range rep.header {
				w.Header()[key] = values
			}
			if !rep.broken && !rep.hang {
				w.WriteHeader(rep.status)
				io.WriteString(w, rep.body)
			}
			return rep
		}
	}
	if s.conflict && s.knows(c) {
		w.WriteHeader(http.StatusConflict)
		io.WriteString(w, `{"error":"Conflict: payload already received: payloads already received"}`)
		return nil
	}
	s.store(c)
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, `{"message":"Runs batch ingested"}`)
	return nil
}

func (s *langsmith) knows(c call) bool {
	for _, op := range c.ops {
		verb, id, _ := strings.Cut(op, " ")
		if s.runs[id][verb] != nil {
			return true
		}
	}
	return false
}

func (s *langsmith) store(c call) {
	for _, op := range c.ops {
		verb, id, _ := strings.Cut(op, " ")
		if s.runs[id] == nil {
			s.runs[id] = map[string]map[string]json.RawMessage{}
		}
		s.runs[id][verb] = c.has[op]
	}
}

// field is what the server ends up with: the patch's value, else the post's.
func (s *langsmith) field(id, name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if raw, ok := s.runs[id]["patch"][name]; ok {
		return string(raw)
	}
	return string(s.runs[id]["post"][name])
}

// seen lists the requests' writes, a request a line.
func (s *langsmith) seen() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all [][]string
	for _, c := range s.calls {
		all = append(all, c.ops)
	}
	return all
}

// readCall decodes a request as strictly as the real server.
func readCall(r *http.Request) (call, error) {
	c := call{path: r.URL.Path, header: r.Header, has: map[string]map[string]json.RawMessage{}}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return c, err
	}
	if r.ContentLength != int64(len(raw)) || len(r.TransferEncoding) > 0 {
		return c, fmt.Errorf("content length %d of a body of %d bytes, %v", r.ContentLength, len(raw), r.TransferEncoding)
	}
	c.body, c.plain = raw, raw
	switch r.Header.Get("Content-Encoding") {
	case "gzip":
		dec, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return c, err
		}
		if c.plain, err = io.ReadAll(dec); err != nil {
			return c, err
		}
	case "zstd":
		dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20))
		if err != nil {
			return c, err
		}
		defer dec.Close()
		if c.plain, err = dec.DecodeAll(raw, nil); err != nil {
			return c, err
		}
	}
	switch r.URL.Path {
	case "/runs/multipart":
		err = c.readMultipart(r.Header.Get("Content-Type"))
	case "/runs/batch":
		err = c.readBatch()
	default:
		err = errors.New("path " + r.URL.Path)
	}
	return c, err
}

func (c *call) readMultipart(contentType string) error {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/form-data" {
		return fmt.Errorf("content type %q: %v", contentType, err)
	}
	for parts := multipart.NewReader(bytes.NewReader(c.plain), params["boundary"]); ; {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		body, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		name := strings.Split(part.FormName(), ".")
		file := name[0] == "attachment"
		switch {
		case part.Header.Get("Content-Type") == "" || !file && part.Header.Get("Content-Type") != "application/json":
			return fmt.Errorf("part %s without a type", part.FormName())
		case part.Header.Get("Content-Length") != strconv.Itoa(len(body)):
			return fmt.Errorf("part %s says %s bytes, has %d", part.FormName(), part.Header.Get("Content-Length"), len(body))
		case part.FileName() != "" || part.Header.Get("Content-Encoding") != "":
			return fmt.Errorf("part %s with a file name or an encoding", part.FormName())
		case file && len(name) == 3:
			continue
		case !json.Valid(body) || string(body) == "null":
			return fmt.Errorf("part %s holds %.60s", part.FormName(), body)
		}
		if err := c.add(name, body); err != nil {
			return err
		}
	}
}

func (c *call) add(name []string, body []byte) error {
	key := name[0] + " " + name[1]
	if len(name) == 3 {
		if c.has[key] == nil {
			return fmt.Errorf("%v comes before its main part", name)
		}
		if c.has[key][name[2]] != nil {
			return fmt.Errorf("%v is there twice", name)
		}
		c.has[key][name[2]] = body
		return nil
	}
	var main map[string]json.RawMessage
	if err := json.Unmarshal(body, &main); err != nil {
		return err
	}
	return c.addRun(key, main)
}

func (c *call) addRun(key string, run map[string]json.RawMessage) error {
	for _, field := range []string{"id", "trace_id", "dotted_order"} {
		if len(run[field]) < 3 {
			return fmt.Errorf("%s without %s", key, field)
		}
	}
	if (len(run["session_name"]) < 3) == (len(run["address"]) < 3) {
		return fmt.Errorf("%s has a project and an address, or neither", key)
	}
	for field, value := range run {
		if string(value) == "null" {
			return fmt.Errorf("%s: %s is null", key, field)
		}
	}
	if c.has[key] != nil {
		return fmt.Errorf("%s is there twice", key)
	}
	c.ops = append(c.ops, key)
	c.has[key] = run
	return nil
}

func (c *call) readBatch() error {
	var all map[string][]map[string]json.RawMessage
	if err := json.Unmarshal(c.plain, &all); err != nil {
		return err
	}
	for _, verb := range []string{"post", "patch"} {
		for _, run := range all[verb] {
			var id string
			if err := json.Unmarshal(run["id"], &id); err != nil {
				return err
			}
			if err := c.addRun(verb+" "+id, run); err != nil {
				return err
			}
		}
	}
	return nil
}
