package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/tracesmith/tracesmith/internal/ingest"
)

// seen is a request as it reached a server.
type seen struct {
	Method, URI string
	Header      http.Header
	Body        string
}

// far is a LangSmith that answers what it is told and keeps what it was asked.
type far struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []seen
}

func newFar(t *testing.T, status int) *far {
	t.Helper()
	f := &far{status: status}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.got = append(f.got, seen{r.Method, r.RequestURI, r.Header.Clone(), string(body)})
		w.Header().Set("X-Answer", "theirs")
		w.WriteHeader(f.status)
		_, _ = io.WriteString(w, `{"from":"langsmith"}`)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *far) seen() []seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got
}

// before starts a relay in front of a server.
func before(t *testing.T, upstream string) (url, token, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "state", "v1")
	r, err := start(dir, "127.0.0.1:0", upstream)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, r.Close) })
	token, err = Token(Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	return r.URL(), token, dir
}

func ask(t *testing.T, method, url string, header http.Header, body []byte) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header.Clone()
	if host := header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// foreign is a trace of another LangChain program.
func foreign(t *testing.T) []native {
	t.Helper()
	list := halves(fixture(t, "plain"))
	for _, each := range list {
		meta := each.run["extra"].(map[string]any)["metadata"].(map[string]any)
		if meta["ls_integration"] == Integration {
			delete(meta, "ls_integration")
		}
	}
	return list
}

func TestAForeignRunReachesLangSmithWithTheSameBytes(t *testing.T) {
	plain, contentType := multipartOf(foreign(t))
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := enc.EncodeAll(plain, nil)
	for name, request := range map[string]struct {
		method, uri string
		header      http.Header
		body        []byte
	}{
		"multipart": {"POST", "/runs/multipart", http.Header{"Content-Type": {contentType}}, plain},
		"zstd":      {"POST", "/runs/multipart", http.Header{"Content-Type": {contentType}, "Content-Encoding": {"zstd"}}, packed},
		"batch":     {"POST", "/api/v1/runs/batch", http.Header{"Content-Type": {"application/json"}}, batchOf(foreign(t))},
		"no runs":   {"POST", "/runs/batch", http.Header{"Content-Type": {"application/json"}}, []byte("{ not json")},
		"spans":     {"POST", "/otel/v1/traces", http.Header{"Content-Type": {"application/x-protobuf"}}, []byte("\x0a\x03lib")},
		"a lot":     {"POST", "/runs/batch", http.Header{"Content-Type": {"application/json"}}, bytes.Repeat([]byte(" "), maxBody+2)},
		"a query":   {"POST", "/runs/query?a=1;b=%2F&c", http.Header{"Content-Type": {"application/json"}}, []byte(`{"session":["x"]}`)},
		"a prompt":  {"GET", "/commits/-/name%2Fx/latest?include_model=true", http.Header{}, nil},
	} {
		for _, key := range []string{"lsv2_pt_theirs", ownKey, ""} {
			t.Run(name+"/"+key, func(t *testing.T) {
				upstream := newFar(t, http.StatusTeapot)
				direct, theirs := newFar(t, http.StatusTeapot), request.header.Clone()
				theirs.Set("User-Agent", "langsmith-py/0.4")
				theirs.Set("X-Custom", "yes")
				if key != "" {
					theirs.Set("X-Api-Key", key)
				}
				url, _, _ := before(t, upstream.URL)
				res, text := ask(t, request.method, url+request.uri, theirs, request.body)
				ask(t, request.method, direct.URL+request.uri, theirs, request.body)
				if diff := cmp.Diff(direct.seen(), upstream.seen()); diff != "" {
					t.Errorf("(-direct +through the relay)\n%s", diff)
				}
				if res.StatusCode != http.StatusTeapot || text != `{"from":"langsmith"}` || res.Header.Get("X-Answer") != "theirs" {
					t.Errorf("answer %s %s", res.Status, text)
				}
			})
		}
	}
}

func TestTheTokenIsExchangedForTracesmithsKey(t *testing.T) {
	upstream := newFar(t, http.StatusAccepted)
	url, token, _ := before(t, upstream.URL)
	ask(t, "POST", url+"/runs/batch", http.Header{"X-Api-Key": {token}}, batchOf(foreign(t)))
	ask(t, "GET", url+"/sessions", http.Header{"Authorization": {"Bearer " + token}}, nil)
	got := upstream.seen()
	if len(got) != 2 {
		t.Fatalf("%d requests", len(got))
	}
	for _, each := range got {
		if each.Header.Get("X-Api-Key") != ownKey || each.Header.Get("X-Tenant-Id") != "workspace" || each.Header.Get("Authorization") != "" {
			t.Errorf("%s: %v", each.URI, each.Header)
		}
	}
}

func TestOfAMixedRequestOnlyTheOthersGoOn(t *testing.T) {
	theirs := newStory("their-thread", "their-turn", 1)
	root := theirs.run(nil, "chain", "chain", map[string]any{"ls_integration": "langchain"})
	first, last := begin(root), theirs.end(root, map[string]any{"a": json.Number("1.50")}, "")
	list := append([]native{first}, halves(fixture(t, "plain"))...)
	list = append(list, last)
	mixed, contentType := multipartOf(list)
	alone, otherType := multipartOf([]native{first, last})
	_, boundary, _ := strings.Cut(contentType, "boundary=")
	_, otherBoundary, _ := strings.Cut(otherType, "boundary=")
	alone = bytes.ReplaceAll(alone, []byte(otherBoundary), []byte(boundary))
	for uri, request := range map[string]struct {
		contentType string
		sent, want  []byte
	}{
		"/runs/multipart": {contentType, mixed, alone},
		"/runs/batch":     {"application/json", batchOf(list), batchOf([]native{first, last})},
		"/runs/batch/":    {"application/json", batchOf(list), batchOf([]native{first, last})},
	} {
		upstream := newFar(t, http.StatusAccepted)
		url, token, _ := before(t, upstream.URL)
		ask(t, "POST", url+uri, http.Header{"X-Api-Key": {token}, "Content-Type": {request.contentType}, "User-Agent": {"theirs"}}, request.sent)
		var bodies []string
		for _, each := range upstream.seen() {
			if each.Header.Get("User-Agent") == "theirs" {
				bodies = append(bodies, each.Body)
			}
		}
		if diff := cmp.Diff([]string{string(request.want)}, bodies); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", uri, diff)
		}
		b := newBench(t, ingest.Config{}).start()
		ask(t, "POST", b.url+uri, http.Header{"X-Api-Key": {b.token}, "Content-Type": {request.contentType}}, request.sent)
		golden(t, "plain", b.await("the turn", allOf(t, "plain")))
	}
}

func TestOnlyTheOwnerOfTheTokenHasRunsDelivered(t *testing.T) {
	upstream := newFar(t, http.StatusUnauthorized)
	url, _, dir := before(t, upstream.URL)
	for _, key := range []string{"", "lsv2_pt_theirs", "tracesmith-relay-guess"} {
		res, _ := ask(t, "POST", url+"/runs/batch", http.Header{"X-Api-Key": {key}}, batchOf(fixture(t, "plain")))
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("key %q: %s", key, res.Status)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "sessions", "*", "*")); len(found) > 0 {
		t.Errorf("kept %q", found)
	}
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	if r, err := start(t.TempDir(), "0.0.0.0:0", "http://127.0.0.1:9"); err == nil {
		closing(t, r.Close)
		t.Error("it listens to the world")
	}
	upstream := newFar(t, http.StatusOK)
	url, token, _ := before(t, upstream.URL)
	for _, header := range []http.Header{
		{"Host": {"evil.example"}, "X-Api-Key": {token}},
		{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}, "X-Api-Key": {token}},
	} {
		res, _ := ask(t, "POST", url+"/runs/batch", header, batchOf(fixture(t, "plain")))
		if res.StatusCode != http.StatusForbidden {
			t.Errorf("%v: %s", header, res.Status)
		}
	}
	if len(upstream.seen()) > 0 {
		t.Error("it was sent on")
	}
}

func TestInfoIsAnsweredWhileLangSmithIsAway(t *testing.T) {
	gone := newFar(t, http.StatusOK)
	address := gone.URL
	gone.Close()
	url, token, _ := before(t, address)
	res, text := ask(t, "GET", url+"/info", http.Header{"X-Api-Key": {token}}, nil)
	if res.StatusCode != http.StatusOK || !strings.Contains(text, "batch_ingest_config") {
		t.Errorf("%s %s", res.Status, text)
	}
	res, _ = ask(t, "POST", url+"/runs/batch", http.Header{"X-Api-Key": {"lsv2_pt_theirs"}}, batchOf(foreign(t)))
	if res.StatusCode != http.StatusBadGateway {
		t.Errorf("a foreign run: %s, want an answer that has it tried again", res.Status)
	}
}

func TestASecondRelayOfTheSameInstallDoesNotStart(t *testing.T) {
	upstream := newFar(t, http.StatusOK)
	_, _, dir := before(t, upstream.URL)
	if r, err := start(dir, "127.0.0.1:0", upstream.URL); err == nil {
		closing(t, r.Close)
		t.Error("two at once")
	}
}

func TestARelayThatNobodyUsesEnds(t *testing.T) {
	upstream := newFar(t, http.StatusOK)
	dir := filepath.Join(t.TempDir(), "state", "v1")
	r, err := start(dir, "127.0.0.1:0", upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, r.Close)
	r.cfg.Idle = 1 // a nanosecond
	if err := r.Wait(context.Background()); err != nil {
		t.Error(err)
	}
}
