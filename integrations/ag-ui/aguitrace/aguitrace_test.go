package aguitrace

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is for anything that is waited for.
const patience = 10 * time.Second

// events are those of a whole run, as server-sent events.
var events = []string{
	`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`,
	`{"type":"TEXT_MESSAGE_START","messageId":"m"}`,
	`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hello"}`,
	`{"type":"TEXT_MESSAGE_END","messageId":"m"}`,
	`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`,
}

func sse(events ...string) []byte {
	var b bytes.Buffer
	for _, e := range events {
		fmt.Fprintf(&b, "data: %s\r\n\r\n", e)
	}
	return b.Bytes()
}

const request = `{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"hi there"}],"tools":[],"context":[]}`

// agent answers with pieces, each flushed.
func agent(contentType string, pieces ...[]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		for _, piece := range pieces {
			_, _ = w.Write(piece)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// serve starts a server for the test.
func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = nil
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// client returns a client whose connections end with the test.
func client(t *testing.T) *http.Client {
	t.Helper()
	base := &http.Transport{DisableCompression: true}
	t.Cleanup(base.CloseIdleConnections)
	return &http.Client{Transport: base, Timeout: patience}
}

func post(t *testing.T, c *http.Client, url string) (*http.Response, []byte) {
	t.Helper()
	resp, err := c.Post(url, "application/json", strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, raw
}

// recorded waits for the streams and returns what the sink holds, as a tree.
func recorded(t *testing.T, tracer *Tracer, sink *runtypes.Recorder) ([]runtypes.Run, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := tracer.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	runs, err := sink.Runs()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range runtypes.Validate(runs) {
		t.Error(v)
	}
	var b strings.Builder
	for _, run := range runs {
		fmt.Fprintf(&b, "%s %s|%s\n", run.Kind, run.Name, run.Error)
	}
	return runs, b.String()
}

const whole = "root AG-UI run|\nllm AG-UI|\n"

func TestAStreamPassesAHandlerByteForByteAndIsRecorded(t *testing.T) {
	want := sse(events...)
	sink := &runtypes.Recorder{}
	tracer := New(sink, Options{})
	s := serve(t, tracer.Handler(agent("text/event-stream; charset=utf-8", want[:7], want[7:60], want[60:])))
	resp, got := post(t, client(t), s.URL)
	if diff := cmp.Diff(string(want), string(got)); diff != "" || resp.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		t.Error(diff)
	}
	runs, tree := recorded(t, tracer, sink)
	if tree != whole || !strings.Contains(string(runs[0].Inputs), "hi there") || !strings.Contains(string(runs[1].Inputs), "hi there") {
		t.Errorf("%s, asked %s", tree, runs[0].Inputs)
	}
}

func TestEachPieceReachesTheClientBeforeTheNextIsMade(t *testing.T) {
	for _, where := range []string{"handler", "proxy"} {
		t.Run(where, func(t *testing.T) {
			read := make(chan struct{})
			slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", agui.MediaTypeSSE)
				for _, e := range events {
					_, _ = w.Write(sse(e))
					if err := http.NewResponseController(w).Flush(); err != nil {
						t.Error(err)
					}
					select {
					case <-read:
					case <-time.After(patience):
						t.Error("a piece did not arrive")
						return
					}
				}
			})
			sink := &runtypes.Recorder{}
			tracer := New(sink, Options{})
			var s *httptest.Server
			if where == "handler" {
				s = serve(t, tracer.Handler(slow))
			} else {
				s = serve(t, tracer.proxyTo(t, serve(t, slow)))
			}
			resp, err := client(t).Post(s.URL, "application/json", strings.NewReader(request))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				piece := make([]byte, len(sse(e)))
				if _, err := io.ReadFull(resp.Body, piece); err != nil {
					t.Fatal(err)
				}
				read <- struct{}{}
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if _, tree := recorded(t, tracer, sink); tree != whole {
				t.Error(tree)
			}
		})
	}
}

// proxyTo is a proxy to a server, whose connections end with the test.
func (t *Tracer) proxyTo(test *testing.T, s *httptest.Server) *Proxy {
	test.Helper()
	target, err := url.Parse(s.URL)
	if err != nil {
		test.Fatal(err)
	}
	proxy := t.Proxy(target)
	test.Cleanup(proxy.CloseIdleConnections)
	return proxy
}

func TestAProxyChangesNothing(t *testing.T) {
	gzipped := func(raw []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(raw)
		_ = w.Close()
		return b.Bytes()
	}
	zstandard := func(raw []byte) []byte {
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		return w.EncodeAll(raw, nil)
	}
	binary := func(list ...string) []byte {
		var all []byte
		for _, text := range list {
			e, _ := agui.DecodeJSON([]byte(text))
			raw, err := agui.EncodeProtobuf(e, agui.PeerV1)
			if err != nil {
				t.Fatal(err)
			}
			all = agui.AppendFrame(all, raw)
		}
		return all
	}
	for name, each := range map[string]struct {
		contentType, encoding string
		body                  []byte
	}{
		"plain":    {agui.MediaTypeSSE, "", sse(events...)},
		"gzip":     {agui.MediaTypeSSE, "gzip", gzipped(sse(events...))},
		"zstd":     {agui.MediaTypeSSE, "zstd", zstandard(sse(events...))},
		"protobuf": {agui.MediaTypeProtobuf + "; v=1", "", binary(events...)},
	} {
		t.Run(name, func(t *testing.T) {
			upstream := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked, _ := io.ReadAll(r.Body)
				if string(asked) != request || r.URL.Path != "/agent" || r.Header.Get("Authorization") != "Bearer secret" ||
					r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Accept-Encoding") != "gzip, zstd;q=0.5" {
					t.Errorf("the agent was asked %s %s %v", r.URL, asked, r.Header)
				}
				if each.encoding != "" {
					w.Header().Set("Content-Encoding", each.encoding)
				}
				w.Header()["X-Own"] = []string{"one", "two"}
				w.Header().Set("Content-Type", each.contentType)
				w.WriteHeader(http.StatusAccepted)
				_, _ = w.Write(each.body)
			}))
			sink := &runtypes.Recorder{}
			tracer := New(sink, Options{})
			s := serve(t, tracer.proxyTo(t, upstream))
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/agent", strings.NewReader(request))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer secret")
			req.Header.Set("Accept-Encoding", "gzip, br, zstd;q=0.5")
			resp, err := client(t).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || !bytes.Equal(got, each.body) || resp.StatusCode != http.StatusAccepted {
				t.Errorf("%v: %d %q", err, resp.StatusCode, got)
			}
			if resp.Header.Get("Content-Type") != each.contentType || resp.Header.Get("Content-Encoding") != each.encoding || len(resp.Header["X-Own"]) != 2 {
				t.Errorf("headers %v", resp.Header)
			}
			runs, tree := recorded(t, tracer, sink)
			if tree != whole {
				t.Error(tree)
			}
			if strings.Contains(fmt.Sprintf("%+v", runs), "Bearer") {
				t.Error("a header was recorded")
			}
		})
	}
}

// A server closes the body of a request when the answer begins, unless it is told not to,
// which a proxy that is still sending the body on takes for a failure of the whole.
func TestAnAnswerThatBeginsBeforeTheRequestWasSentOnIsNotBrokenOff(t *testing.T) {
	var pieces [][]byte
	for range 300 {
		pieces = append(pieces, sse(events[2]))
	}
	want := bytes.Join(pieces, nil)
	tracer := New(nil, Options{})
	s := serve(t, tracer.proxyTo(t, serve(t, agent(agui.MediaTypeSSE, pieces...))))
	c := client(t)
	for n := range 300 {
		resp, err := c.Post(s.URL, "application/json", strings.NewReader(request))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("stream %d: %d bytes of %d: %v", n, len(got), len(want), err)
		}
	}
}

func TestAClientThatLeavesInterruptsItsRun(t *testing.T) {
	for _, where := range []string{"handler", "proxy", "transport"} {
		t.Run(where, func(t *testing.T) {
			left := make(chan struct{})
			hangs := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", agui.MediaTypeSSE)
				_, _ = w.Write(sse(events[:3]...))
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
				case <-time.After(patience):
					t.Error("the agent was not told")
				}
				close(left)
			})
			sink := &runtypes.Recorder{}
			tracer := New(sink, Options{})
			c := client(t)
			var s *httptest.Server
			switch where {
			case "handler":
				s = serve(t, tracer.Handler(hangs))
			case "proxy":
				s = serve(t, tracer.proxyTo(t, serve(t, hangs)))
			default:
				s = serve(t, hangs)
				c.Transport = tracer.Transport(c.Transport)
			}
			resp, err := c.Post(s.URL, "application/json", strings.NewReader(request))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(resp.Body, make([]byte, 60)); err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			<-left
			if _, tree := recorded(t, tracer, sink); !strings.HasPrefix(tree, "interrupted AG-UI run|The client disconnected\n") {
				t.Error(tree)
			}
			c.CloseIdleConnections()
		})
	}
}

func TestAnAgentThatBreaksOffIsCutOff(t *testing.T) {
	breaks := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", agui.MediaTypeSSE)
		_, _ = w.Write(sse(events[:3]...))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	sink := &runtypes.Recorder{}
	tracer := New(sink, Options{})
	c := client(t)
	c.Transport = tracer.Transport(c.Transport)
	resp, err := c.Post(serve(t, breaks).URL, "application/json", strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if err == nil {
		t.Error("the client was not told")
	}
	if _, tree := recorded(t, tracer, sink); !strings.HasPrefix(tree, "interrupted AG-UI run|The stream ended before the run did\n") {
		t.Error(tree)
	}
	c.CloseIdleConnections()
}

func TestAnAnswerThatIsNoStreamIsAFailedRunWhereItIsAnError(t *testing.T) {
	answers := map[string]struct {
		answer http.HandlerFunc
		body   string
		want   string
	}{
		"an error":   {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) }, request, "root AG-UI run|the agent answered 503 Service Unavailable\n"},
		"a panic":    {func(http.ResponseWriter, *http.Request) { panic("secret") }, request, "root AG-UI run|panic (string)\n"},
		"other JSON": {agent("application/json", []byte("{}")), request, ""},
		"no request": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) }, `{"a":1}`, ""},
	}
	for name, each := range answers {
		t.Run(name, func(t *testing.T) {
			sink := &runtypes.Recorder{}
			tracer := New(sink, Options{})
			h := tracer.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				each.answer(w, r)
			}))
			req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(each.body))
			func() {
				defer func() {
					if r := recover(); (r != nil) != (name == "a panic") {
						t.Errorf("recovered %v", r)
					}
				}()
				h.ServeHTTP(httptest.NewRecorder(), req)
			}()
			if _, tree := recorded(t, tracer, sink); tree != each.want {
				t.Errorf("recorded %q, want %q", tree, each.want)
			}
		})
	}
}

func TestAPanicInAStreamFailsItsRunAndGoesOn(t *testing.T) {
	sink := &runtypes.Recorder{}
	tracer := New(sink, Options{})
	h := tracer.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent(agui.MediaTypeSSE, sse(events[:3]...))(w, r)
		panic("secret")
	}))
	func() {
		defer func() {
			if recover() != "secret" {
				t.Error("the panic was swallowed")
			}
		}()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(request)))
	}()
	if _, tree := recorded(t, tracer, sink); tree != "root AG-UI run|the handler panicked\nllm AG-UI|the handler panicked\n" {
		t.Error(tree)
	}
}

func TestAnAgentThatDoesNotAnswerIsAFailedRun(t *testing.T) {
	gone := serve(t, http.NotFoundHandler())
	sink := &runtypes.Recorder{}
	tracer := New(sink, Options{})
	s := serve(t, tracer.proxyTo(t, gone))
	gone.Close()
	resp, _ := post(t, client(t), s.URL)
	if _, tree := recorded(t, tracer, sink); resp.StatusCode != http.StatusBadGateway || tree != "root AG-UI run|no answer from the agent\n" {
		t.Errorf("%d, %s", resp.StatusCode, tree)
	}
}

// stuck is a sink that takes nothing until it is let go.
type stuck struct {
	runtypes.Recorder
	free chan struct{}
}

func (s *stuck) Submit(op runtypes.Op) error {
	<-s.free
	return s.Recorder.Submit(op)
}

func TestASinkThatHangsHoldsNoStreamUpAndWhatIsLostIsSaid(t *testing.T) {
	many := []string{events[0]}
	for range 2000 {
		many = append(many, events[2])
	}
	many = append(many, events[4])
	want := sse(many...)
	sink := &stuck{free: make(chan struct{})}
	tracer := New(sink, Options{Queue: 4 << 10})
	s := serve(t, tracer.Handler(agent(agui.MediaTypeSSE, want[:1<<10], want[1<<10:])))
	if _, got := post(t, client(t), s.URL); !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d arrived", len(got), len(want))
	}
	close(sink.free)
	if _, tree := recorded(t, tracer, &sink.Recorder); !strings.HasPrefix(tree, "interrupted AG-UI run|The rest was not recorded\n") {
		t.Error(tree)
	}
	if total := tracer.Totals(); total.Lost != 1 || total.Streams != 1 {
		t.Errorf("%+v", total)
	}
}

func TestAStreamBeyondTheBoundIsNotRecordedToItsEnd(t *testing.T) {
	want := sse(events...)
	sink := &runtypes.Recorder{}
	tracer := New(sink, Options{Stream: 120})
	s := serve(t, tracer.Handler(agent(agui.MediaTypeSSE, want)))
	if _, got := post(t, client(t), s.URL); !bytes.Equal(got, want) {
		t.Error("the stream was cut")
	}
	if _, tree := recorded(t, tracer, sink); tree != "interrupted AG-UI run|The rest was not recorded\nllm AG-UI|The rest was not recorded\n" {
		t.Error(tree)
	}
}

type faulty struct{}

func (faulty) Submit(runtypes.Op) error { panic("fault") }

func TestAFaultOfOursReachesNobody(t *testing.T) {
	tracer := New(faulty{}, Options{})
	s := serve(t, tracer.Handler(agent(agui.MediaTypeSSE, sse(events...))))
	if _, got := post(t, client(t), s.URL); !bytes.Equal(got, sse(events...)) {
		t.Error("the stream was broken")
	}
	recorded(t, tracer, &runtypes.Recorder{})
	r := tracer.Recorder(nil)
	r.Event([]byte(events[0]))
	if got := r.Mark([]byte(events[3]), agui.Marks{}); string(got) != events[3] {
		t.Errorf("marked %s", got)
	}
	r.Close(false)
	if total := tracer.Totals(); total.Lost != 2 {
		t.Errorf("%+v", total)
	}
}

func TestWithoutASinkNothingIsLookedAt(t *testing.T) {
	next := http.NotFoundHandler()
	if h := Handler(next, nil); fmt.Sprint(h) != fmt.Sprint(next) {
		t.Error("the handler is wrapped")
	}
	if rt := Transport(nil, nil); rt != http.DefaultTransport {
		t.Error("the transport is wrapped")
	}
	r := New(nil, Options{}).Recorder(nil)
	if got := r.Mark([]byte(events[0]), agui.Marks{}); string(got) != events[0] {
		t.Errorf("marked %s", got)
	}
	r.Close(false)
}

func TestAProducerRecordsAndMarksItsOwnEvents(t *testing.T) {
	sink := &runtypes.Recorder{}
	tracer := New(sink, Options{Runs: agui.RunOptions{Identity: runtypes.Identity{Integration: "acme", Runtime: "Acme"}}})
	r := tracer.Recorder(agui.DecodeInput([]byte(request)))
	first := r.Mark([]byte(events[0]), agui.Marks{})
	for _, e := range events[1:3] {
		r.Event([]byte(e))
	}
	r.Event([]byte("no JSON"))
	r.Close(true)
	r.Event([]byte(events[4])) // too late
	runs, tree := recorded(t, tracer, sink)
	if tree != "interrupted AG-UI run|The client disconnected\nllm Acme|The client disconnected\n" {
		t.Error(tree)
	}
	if !strings.Contains(string(first), runs[0].ID.String()) {
		t.Errorf("the first event goes out as %s", first)
	}
	if total := tracer.Totals(); total.Problems[agui.BadFrame] != 1 {
		t.Errorf("%+v", total)
	}
}

func TestWaitingIsBounded(t *testing.T) {
	sink := &stuck{free: make(chan struct{})}
	tracer := New(sink, Options{})
	p := newPipe(1<<20, time.Now)
	tracer.fold(p, decoding{format: agui.SSE}, nil)
	p.Write(sse(events[0]))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := tracer.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	close(sink.free)
	p.Close(io.EOF)
	if err := tracer.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}
