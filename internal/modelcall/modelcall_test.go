package modelcall_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/internal/modelcall"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is an API whose reply is what came, and that panics on demand.
func echo() modelcall.API {
	return modelcall.API{Provider: "echo", MaxBody: 1 << 10, Read: func(path string, body []byte) (modelcall.Call, bool) {
		if strings.Contains(string(body), "bad request") {
			panic("bad request")
		}
		return modelcall.Call{Model: "m", Inputs: body, Reply: &reply{}}, path == "/ask"
	}}
}

type reply struct {
	text string
	done bool
}

func (r *reply) Whole(body []byte) { r.text, r.done = string(body), true }
func (r *reply) Event(data []byte) bool {
	if string(data) == "panic" {
		panic("event")
	}
	r.done = string(data) == "end"
	r.text += string(data)
	return !r.done
}
func (r *reply) Done() bool { return r.done }
func (r *reply) Result() modelcall.Result {
	return modelcall.Result{Outputs: modelcall.Members("text", r.text)}
}

// call answers a request with h and returns the run it made and what was read.
func call(t *testing.T, body io.Reader, h http.HandlerFunc, read func(*http.Response) string) (runtypes.Run, string) {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	sink := &runtypes.Recorder{}
	turn := runtypes.StartTurn(sink, runtypes.Identity{Integration: "a", Runtime: "A", ThreadID: "t"}, "x")
	req, err := http.NewRequestWithContext(runtypes.NewContext(t.Context(), turn), http.MethodPost, server.URL+"/ask", body)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	resp, err := echo().Do(req, transport.RoundTrip)
	if err != nil {
		t.Fatal(err)
	}
	seen := read(resp)
	_ = resp.Body.Close()
	turn.End("y")
	runs, err := sink.Runs()
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	return runs[1], seen
}

func all(resp *http.Response) string {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

func TestABodyThatCanBeReadOnceStillArrives(t *testing.T) {
	arrived := ""
	once := io.MultiReader(strings.NewReader(`{"messages":`), strings.NewReader(`[]}`)) // no GetBody
	r, _ := call(t, once, func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		arrived = string(body)
		_, _ = io.WriteString(w, `{}`)
	}, all)
	if arrived != `{"messages":[]}` || string(r.Inputs) != arrived {
		t.Errorf("arrived %q, recorded %s", arrived, r.Inputs)
	}
}

func TestAReadErrorOfTheBodyIsTheClients(t *testing.T) {
	broken := errors.New("disk gone")
	sink := &runtypes.Recorder{}
	turn := runtypes.StartTurn(sink, runtypes.Identity{}, "x")
	req, err := http.NewRequestWithContext(runtypes.NewContext(t.Context(), turn), http.MethodPost, "http://127.0.0.1/ask",
		io.MultiReader(strings.NewReader("{"), reader(func([]byte) (int, error) { return 0, broken })))
	if err != nil {
		t.Fatal(err)
	}
	_, err = echo().Do(req, func(req *http.Request) (*http.Response, error) {
		_, err := io.ReadAll(req.Body)
		return nil, err
	})
	if !errors.Is(err, broken) {
		t.Errorf("the client got %v", err)
	}
	if runs, _ := sink.Runs(); len(runs) != 2 || !strings.Contains(runs[1].Error, "disk gone") {
		t.Errorf("%+v", runs)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type reader func([]byte) (int, error)

func (f reader) Read(p []byte) (int, error) { return f(p) }

func TestAnAnswerNeedNotBeReadToItsEnd(t *testing.T) {
	r, _ := call(t, strings.NewReader(`{}`), func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"a":1} `) },
		func(resp *http.Response) string {
			var v any
			_ = json.NewDecoder(resp.Body).Decode(&v)
			return ""
		})
	if r.Error != "" || !strings.Contains(string(r.Outputs), `{\"a\":1}`) {
		t.Errorf("error %q, outputs %s", r.Error, r.Outputs)
	}
}

func TestAStreamEndsWhereItSaysSo(t *testing.T) {
	f := func(name, stream, failure, outputs string, tokens bool) {
		t.Helper()
		r, seen := call(t, strings.NewReader(`{}`), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			_, _ = io.WriteString(w, stream)
		}, all)
		if seen != stream || r.Error != failure || string(r.Outputs) != outputs || len(r.Events) > 0 != tokens {
			t.Errorf("%s: seen %q, error %q, outputs %s, events %v", name, seen, r.Error, r.Outputs, r.Events)
		}
	}
	f("whole", "data: a\n\ndata: end\n\n", "", `{"text":"aend"}`, true)
	f("carriage returns", ": hello\r\nevent: x\r\ndata: a\r\ndata:b\r\n\r\ndata: end\r\n\r\n", "", `{"text":"a\nbend"}`, true)
	f("broken off", "data: a\n\ndata: b", "the reply broke off: unexpected EOF", `{"text":"a"}`, true)
	f("empty", "", "the reply broke off: unexpected EOF", `{"text":""}`, false)
	f("a fault of ours", "data: panic\n\ndata: end\n\n", "", "", false)
}

func TestWhatCannotBeReadIsPassedOnAndSaidSo(t *testing.T) {
	r, _ := call(t, strings.NewReader(`{}`), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, `{}`)
		_ = z.Close()
	}, all)
	if r.Error != "" || r.Metadata["outputs_missing"] != "the reply is encoded: gzip" {
		t.Errorf("error %q, metadata %v", r.Error, r.Metadata)
	}
	if r, _ = call(t, strings.NewReader(`bad request`), func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{}`) }, all); r.Error != "" || r.Kind != runtypes.KindLLM {
		t.Errorf("%+v", r)
	}
	large := 100 << 10
	r, seen := call(t, io.LimitReader(zeros{}, int64(large)), func(w http.ResponseWriter, req *http.Request) {
		n, _ := io.Copy(io.Discard, req.Body)
		_, _ = w.Write(make([]byte, n))
	}, all)
	if len(seen) != large || r.Metadata["inputs_missing"] == nil || r.Metadata["outputs_missing"] == nil || r.Error != "" {
		t.Errorf("%d bytes seen, metadata %v, error %q", len(seen), r.Metadata, r.Error)
	}
}

func TestNothingIsReadWhereNobodyTraces(t *testing.T) {
	body := strings.NewReader(`{}`)
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://127.0.0.1/ask", body)
	if err != nil {
		t.Fatal(err)
	}
	answer := &http.Response{Body: http.NoBody}
	resp, err := echo().Do(req, func(got *http.Request) (*http.Response, error) {
		if got != req {
			t.Error("another request")
		}
		return answer, nil
	})
	if resp != answer || err != nil || body.Len() != 2 {
		t.Errorf("%v %v, %d bytes left", resp, err, body.Len())
	}
}
