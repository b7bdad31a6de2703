package anthropic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations/anthropic"
	"github.com/tracesmith/tracesmith/internal/modelserver"
	"github.com/tracesmith/tracesmith/runtypes"
)

// ids are what the scripted model counts up.
var ids = regexp.MustCompile(`"(request_)?id":"(toolu|msg|req)_[0-9]+",?`)

// scenarios are what the scripted model does.
func scenarios() map[string]modelserver.Scenario {
	usage := modelserver.Usage{Input: 10, Output: 120, CacheRead: 1500, Write5m: 200, Write1h: 50}
	return map[string]modelserver.Scenario{
		"all": {{Blocks: []modelserver.Block{
			{Thinking: "Which file <is> it?"},
			{Text: "I will read the file & tell you what is in it."},
			{Tool: "read", Input: json.RawMessage(`{"path":"main.go","range":[1,20],"why":"a<b"}`)},
		}, Usage: usage}},
		"broken": {{Blocks: []modelserver.Block{{Text: "An answer that begins"}}, Usage: usage, BreakOff: true}},
		"held":   {{Blocks: []modelserver.Block{{Text: "An answer that begins and does not end"}}, Usage: usage, Hold: true}},
		"busy":   {{Failure: &modelserver.Failure{Status: 529, Type: "overloaded_error", Message: "Overloaded"}}},
	}
}

func serve(t *testing.T) *modelserver.Server {
	t.Helper()
	server, err := modelserver.Start(modelserver.Config{Scenarios: scenarios()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server
}

const question = `{"model":"claude-opus-4-5","max_tokens":1000,"temperature":0.5,"metadata":{"user_id":"u"},"system":"You are terse.",` +
	`"tools":[{"name":"read","input_schema":{"type":"object"}}],"stream":STREAM,"messages":[{"role":"user","content":"SCENARIO:NAME"}]}`

func ask(ctx context.Context, url, scenario, stream string) (*http.Response, error) {
	body := strings.NewReplacer("STREAM", stream, "NAME", scenario).Replace(question)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/messages", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-Api-Key", "k")
	client := &http.Client{Transport: &anthropic.Transport{Base: &http.Transport{DisableKeepAlives: true}}}
	return client.Do(req)
}

// turn runs f in a turn and returns the run of the model call in it.
func turn(t *testing.T, f func(context.Context)) runtypes.Run {
	t.Helper()
	sink := &runtypes.Recorder{}
	id := runtypes.Identity{Integration: "my-agent", Runtime: "My Agent", ThreadID: "t"}
	turn := runtypes.StartTurn(sink, id, "x")
	f(runtypes.NewContext(t.Context(), turn))
	turn.End("y")
	runs, err := sink.Runs()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range runtypes.Validate(runs) {
		t.Error(v)
	}
	if len(runs) != 2 || runs[1].Kind != runtypes.KindLLM {
		t.Fatalf("%d runs, want the turn and a model call", len(runs))
	}
	return runs[1]
}

func read(t *testing.T, resp *http.Response, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestACallIsRecordedWholeStreamedOrNot(t *testing.T) {
	server := serve(t)
	for _, stream := range []string{"false", "true"} {
		r := turn(t, func(ctx context.Context) {
			resp, err := ask(ctx, server.URL(), "all", stream)
			read(t, resp, err)
		})
		if r.Model.Name != "claude-opus-4-5" || r.Model.Provider != "anthropic" || r.Error != "" {
			t.Errorf("stream %s: %+v, error %q", stream, r.Model, r.Error)
		}
		params, err := json.Marshal(r.Model.InvocationParams)
		if want := `{"max_tokens":1000,"stream":` + stream + `,"temperature":0.5}`; err != nil || string(params) != want {
			t.Errorf("stream %s: parameters %s", stream, params)
		}
		want := `{"messages":[{"role":"system","content":"You are terse."},{"role":"user","content":"SCENARIO:all"}],` +
			`"tools":[{"name":"read","input_schema":{"type":"object"}}]}`
		if string(r.Inputs) != want {
			t.Errorf("stream %s: inputs %s", stream, r.Inputs)
		}
		outputs := ids.ReplaceAllString(string(r.Outputs), "")
		want = `{"messages":[{"role":"assistant","content":[{"thinking":"Which file <is> it?","type":"thinking"},` +
			`{"text":"I will read the file & tell you what is in it.","type":"text"},` +
			`{"input":{"path":"main.go","range":[1,20],"why":"a<b"},"name":"read","type":"tool_use"}]}]}`
		if outputs != want {
			t.Errorf("stream %s: outputs %s", stream, outputs)
		}
		if u := r.Usage; u == nil || u.Input != 1760 || u.Output != 120 || u.CacheRead != 1500 || u.Ephemeral5m != 200 || u.Ephemeral1h != 50 {
			t.Errorf("stream %s: usage %+v", stream, u)
		}
		if got := r.Metadata["stop_reason"]; got != "tool_use" {
			t.Errorf("stream %s: stop reason %v", stream, got)
		}
		if token := len(r.Events) == 1 && r.Events[0].Name == "new_token"; token != (stream == "true") {
			t.Errorf("stream %s: events %+v", stream, r.Events)
		}
	}
}

func TestTheClientSeesWhatItWouldSeeWithoutTheRecord(t *testing.T) {
	server := serve(t)
	plain := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, name := range []string{"plain", "broken", "busy"} {
		body := strings.NewReplacer("STREAM", "true", "NAME", name).Replace(question)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL()+"/v1/messages", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", "k")
		resp, err := plain.Do(req)
		want := read(t, resp, err)
		var got []byte
		turn(t, func(ctx context.Context) {
			resp, err := ask(ctx, server.URL(), name, "true")
			got = read(t, resp, err)
		})
		if !bytes.Equal(ids.ReplaceAll(got, nil), ids.ReplaceAll(want, nil)) {
			t.Errorf("%s:\n%s\nwithout the record:\n%s", name, got, want)
		}
	}
}

func TestACallThatFailsSaysWhy(t *testing.T) {
	server := serve(t)
	f := func(scenario, want string, outputs bool) {
		t.Helper()
		r := turn(t, func(ctx context.Context) {
			resp, err := ask(ctx, server.URL(), scenario, "true")
			read(t, resp, err)
		})
		if r.Error != want || r.Interrupted || (len(r.Outputs) > 0) != outputs {
			t.Errorf("%s: error %q, interrupted %v, outputs %s", scenario, r.Error, r.Interrupted, r.Outputs)
		}
	}
	f("busy", "529: overloaded_error: Overloaded", false)
	f("broken", "overloaded_error: Overloaded", true)

	url := server.URL()
	_ = server.Close()
	r := turn(t, func(ctx context.Context) {
		if _, err := ask(ctx, url, "plain", "true"); err == nil {
			t.Error("no error from a server that is gone")
		}
	})
	if !strings.Contains(r.Error, "refused") || r.Interrupted {
		t.Errorf("error %q", r.Error)
	}
}

func TestACallThatIsCutKeepsWhatCame(t *testing.T) {
	server := serve(t)
	f := func(name, want string, cut func(cancel context.CancelCauseFunc, resp *http.Response)) {
		t.Helper()
		r := turn(t, func(ctx context.Context) {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			resp, err := ask(ctx, server.URL(), "held", "true")
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 64<<10)
			for seen := ""; !strings.Contains(seen, "not end"); {
				n, err := resp.Body.Read(buf)
				if err != nil {
					t.Fatal(err)
				}
				seen += string(buf[:n])
			}
			cut(cancel, resp)
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		})
		if !r.Interrupted || r.Error != want || !strings.Contains(string(r.Outputs), "does not end") || r.Usage == nil {
			t.Errorf("%s: error %q, outputs %s, usage %+v", name, r.Error, r.Outputs, r.Usage)
		}
	}
	f("cancelled", "Interrupted by user", func(cancel context.CancelCauseFunc, _ *http.Response) { cancel(errors.New("Interrupted by user")) })
	f("closed", "closed by the client", func(_ context.CancelCauseFunc, resp *http.Response) { _ = resp.Body.Close() })
}

func TestAnAnswerThatIsCutWithItsTurnIsKept(t *testing.T) {
	server := serve(t)
	for range 20 { // whoever else waits for the context must not come first
		sink := &runtypes.Recorder{}
		ctx, cancel := context.WithCancelCause(t.Context())
		id := runtypes.Identity{Integration: "my-agent", Runtime: "My Agent", ThreadID: "t"}
		_, err := runtypes.RunTurn(ctx, sink, id, "x", func(ctx context.Context, _ *runtypes.Turn) (string, error) {
			resp, err := ask(ctx, server.URL(), "held", "true")
			if err != nil {
				return "", err
			}
			defer resp.Body.Close()
			buf := make([]byte, 64<<10)
			for seen := ""; ; {
				n, err := resp.Body.Read(buf)
				if err != nil {
					return "", err
				}
				if seen += string(buf[:n]); strings.Contains(seen, "not end") {
					cancel(errors.New("Interrupted by user"))
				}
			}
		})
		if err == nil {
			t.Fatal("an answer that does not end has ended")
		}
		runs, err := sink.Runs()
		if err != nil || len(runs) != 2 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		if r := runs[1]; r.Error != "Interrupted by user" || !strings.Contains(string(r.Outputs), "does not end") || r.Usage == nil {
			t.Fatalf("error %q, outputs %s, usage %+v", r.Error, r.Outputs, r.Usage)
		}
	}
}

func TestOtherRequestsPassThrough(t *testing.T) {
	server := serve(t)
	sink := &runtypes.Recorder{}
	turn := runtypes.StartTurn(sink, runtypes.Identity{}, "x")
	ctx := runtypes.NewContext(t.Context(), turn)
	client := &http.Client{Transport: &anthropic.Transport{}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL()+"/v1/messages/count_tokens", strings.NewReader(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "k")
	resp, err := client.Do(req)
	if body := read(t, resp, err); !bytes.Contains(body, []byte("input_tokens")) {
		t.Errorf("%s", body)
	}
	resp, err = ask(context.Background(), server.URL(), "plain", "false") // no turn in the context
	read(t, resp, err)
	client.CloseIdleConnections()
	if runs, err := sink.Runs(); len(runs) != 1 || err != nil {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}
