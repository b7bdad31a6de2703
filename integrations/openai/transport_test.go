package openai_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/integrations/openai"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call sends a request to a server that gives one answer, and returns the run of
// the model call.
func call(t *testing.T, path, request, answer string, status int) runtypes.Run {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(answer, "data:") || strings.HasPrefix(answer, "event:") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	sink := &runtypes.Recorder{}
	id := runtypes.Identity{Integration: "my-agent", Runtime: "My Agent", ThreadID: "t"}
	turn := runtypes.StartTurn(sink, id, "x")
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	client := &http.Client{Transport: &openai.Transport{Base: base}}
	req, err := http.NewRequestWithContext(runtypes.NewContext(t.Context(), turn), http.MethodPost, server.URL+path, strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != answer {
		t.Errorf("the client got %q, %v", body, err)
	}
	_ = resp.Body.Close()
	turn.End("y")
	runs, err := sink.Runs()
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for _, v := range runtypes.Validate(runs) {
		t.Error(v)
	}
	return runs[1]
}

// events writes a stream of data lines.
func events(list ...string) string {
	return "data: " + strings.Join(list, "\n\ndata: ") + "\n\n"
}

const (
	chatRequest = `{"model":"gpt-5.5","temperature":0.2,"user":"u","metadata":{"k":"v"},"messages":[{"role":"user","content":"read it"}],` +
		`"tools":[{"type":"function","function":{"name":"read"}}],"stream":false}`
	chatUsage = `"usage":{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130,"prompt_tokens_details":{"cached_tokens":60},"completion_tokens_details":{"reasoning_tokens":10}}`
	chatTool  = `{"role":"assistant","content":"I will.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.go\"}"}}]}`
)

func TestAChatIsTheSameStreamedOrNot(t *testing.T) {
	whole := `{"id":"x1","model":"gpt-5.5-2026","choices":[{"index":0,"message":` + chatTool + `,"finish_reason":"tool_calls"}],` + chatUsage + `}`
	stream := events(
		`{"id":"x1","model":"gpt-5.5-2026","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`,
		`{"id":"x1","choices":[{"index":0,"delta":{"content":"I "}}]}`,
		`{"id":"x1","choices":[{"index":0,"delta":{"content":"will."}}]}`,
		`{"id":"x1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":""}}]}}]}`,
		`{"id":"x1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}}]}`,
		`{"id":"x1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a.go\"}"}}]}}]}`,
		`{"id":"x1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
		`{"id":"x1","choices":[],`+chatUsage+`}`, `[DONE]`)
	for _, answer := range []string{whole, stream} {
		r := call(t, "/v1/chat/completions", chatRequest, answer, 200)
		if r.Error != "" || r.Model.Name != "gpt-5.5" || r.Model.Provider != "openai" || r.Metadata["response_model"] != "gpt-5.5-2026" {
			t.Errorf("%+v, error %q", r.Model, r.Error)
		}
		if params, _ := json.Marshal(r.Model.InvocationParams); string(params) != `{"stream":false,"temperature":0.2}` {
			t.Errorf("parameters %s", params)
		}
		if want := `{"messages":[{"role":"user","content":"read it"}],"tools":[{"type":"function","function":{"name":"read"}}]}`; string(r.Inputs) != want {
			t.Errorf("inputs %s", r.Inputs)
		}
		if want := `{"choices":[{"index":0,"message":` + chatTool + `,"finish_reason":"tool_calls"}]}`; string(r.Outputs) != want {
			t.Errorf("outputs %s\nwant %s", r.Outputs, want)
		}
		if u := r.Usage; u == nil || u.Input != 100 || u.Output != 30 || u.CacheRead != 60 || u.Reasoning != 10 {
			t.Errorf("usage %+v", u)
		}
		if tokens := len(r.Events) == 1; tokens != (answer == stream) {
			t.Errorf("events %+v", r.Events)
		}
	}
}

const (
	responseRequest = `{"model":"gpt-5.5","instructions":"Be terse.","reasoning":{"effort":"low"},"previous_response_id":"r0","input":[` +
		`{"role":"developer","content":"Mind <this>."},{"type":"message","role":"user","content":[{"type":"input_text","text":"read it"}]},` +
		`{"type":"reasoning","encrypted_content":"x","summary":[]},{"type":"function_call","call_id":"c0","name":"ls","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c0","output":"a.go"}]}`
	responseInputs = `{"messages":[{"role":"system","content":"Be terse."},{"role":"system","content":"Mind <this>."},` +
		`{"role":"user","content":[{"type":"text","text":"read it"}]},` +
		`{"role":"assistant","content":[{"type":"tool_call","id":"c0","name":"ls","args":{}}]},{"role":"tool","tool_call_id":"c0","content":"a.go"}]}`
	responseOutput = `[{"type":"reasoning","id":"i0","summary":[{"type":"summary_text","text":"Hm."}]},` +
		`{"type":"message","id":"i1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I will.","annotations":[]}]},` +
		`{"type":"function_call","id":"i2","call_id":"c1","name":"read","arguments":"{\"path\":\"a.go\"}"}]`
	responseUsage   = `"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":30,"output_tokens_details":{"reasoning_tokens":10},"total_tokens":130}`
	responseOutputs = `{"messages":[{"role":"assistant","content":[{"type":"reasoning","text":"Hm."}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"I will."}]},` +
		`{"role":"assistant","content":[{"type":"tool_call","id":"c1","name":"read","args":{"path":"a.go"}}]}]}`
	responseDone = `{"id":"r1","model":"gpt-5.5-2026","status":"completed","error":null,"incomplete_details":null,"output":` + responseOutput + `,` + responseUsage + `}`
)

// pieces are the events of a response up to its end.
func pieces() []string {
	return []string{
		`{"type":"response.created","response":{"id":"r1","model":"gpt-5.5-2026","status":"in_progress","output":[],"usage":null,"error":null}}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"i0","summary":[]}}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"Hm."}`,
		`{"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"i1","role":"assistant","content":[]}}`,
		`{"type":"response.output_text.delta","output_index":1,"delta":"I "}`,
		`{"type":"response.output_text.delta","output_index":1,"delta":"will."}`,
		`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"i2","call_id":"c1","name":"read","arguments":""}}`,
		`{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"path\":\"a.go\"}"}`,
	}
}

func TestAResponseIsTheSameStreamedOrNot(t *testing.T) {
	stream := events(append(pieces(), `{"type":"response.completed","response":`+responseDone+`}`)...)
	for _, answer := range []string{responseDone, stream} {
		r := call(t, "/v1/responses", responseRequest, answer, 200)
		if string(r.Inputs) != responseInputs {
			t.Errorf("inputs %s\nwant %s", r.Inputs, responseInputs)
		}
		if r.Error != "" || string(r.Outputs) != responseOutputs {
			t.Errorf("error %q, outputs %s\nwant %s", r.Error, r.Outputs, responseOutputs)
		}
		if u := r.Usage; u == nil || u.Input != 100 || u.Output != 30 || u.CacheRead != 60 || u.Reasoning != 10 {
			t.Errorf("usage %+v", u)
		}
		if r.Metadata["previous_response_id"] != "r0" || r.Metadata["response_id"] != "r1" {
			t.Errorf("metadata %v", r.Metadata)
		}
		if tokens := len(r.Events) == 1; tokens != (answer == stream) {
			t.Errorf("events %+v", r.Events)
		}
	}
}

func TestAnAnswerThatFailsSaysWhyAndKeepsWhatCame(t *testing.T) {
	f := func(name, path, answer string, status int, failure, outputs string) {
		t.Helper()
		r := call(t, path, `{"model":"m"}`, answer, status)
		if r.Error != failure || string(r.Outputs) != outputs || r.Interrupted {
			t.Errorf("%s: error %q, outputs %s", name, r.Error, r.Outputs)
		}
	}
	const chat, responses = "/v1/chat/completions", "/openai/v1/responses"
	f("status", chat, `{"error":{"message":"slow down","type":"rate_limit","code":"x"}}`, 429, "429 Too Many Requests: rate_limit: slow down", "")
	f("error in the stream", chat, events(`{"choices":[{"index":0,"delta":{"content":"I"}}]}`, `{"error":{"message":"overloaded","code":502}}`), 200,
		"overloaded", `{"choices":[{"index":0,"message":{"role":"assistant","content":"I"}}]}`)
	f("broken off", responses, events(pieces()...), 200, "the reply broke off: unexpected EOF", responseOutputs)
	f("failed", responses, events(append(pieces(), `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"sorry"}}}`)...), 200,
		"server_error: sorry", responseOutputs)
	f("error event", responses, events(`{"type":"error","code":"rate_limit","message":"slow down"}`), 200, "rate_limit: slow down", "")
	f("not JSON", responses, `<html>`, 200, "the reply broke off: unexpected EOF", "")
}

func TestATiersTokensGoUnderItsName(t *testing.T) {
	answer := `{"service_tier":"priority","choices":[],` + chatUsage + `}`
	u := call(t, "/v1/chat/completions", chatRequest, answer, 200).Usage
	if u == nil || u.Input != 100 || u.InputDetails["priority_cache_read"] != 60 || u.InputDetails["priority"] != 40 ||
		u.OutputDetails["priority_reasoning"] != 10 || u.OutputDetails["priority"] != 20 || u.CacheRead != 0 {
		t.Errorf("%+v", u)
	}
}

func TestAProviderCanBeNamed(t *testing.T) {
	sink := &runtypes.Recorder{}
	turn := runtypes.StartTurn(sink, runtypes.Identity{}, "x")
	for _, url := range []string{"https://x.openai.azure.com/openai/deployments/d/chat/completions", "http://127.0.0.1/v1/chat/completions"} {
		req, err := http.NewRequestWithContext(runtypes.NewContext(context.Background(), turn), http.MethodPost, url, strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		next := func(*http.Request) (*http.Response, error) { return nil, io.EOF }
		_, _ = openai.Middleware(req, next)
		_, _ = (&openai.Transport{Provider: "groq"}).Middleware(req, next)
	}
	runs, err := sink.Runs()
	if err != nil || len(runs) != 5 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for i, want := range []string{"azure", "groq", "openai", "groq"} {
		if got := runs[i+1].Model.Provider; got != want {
			t.Errorf("call %d: provider %s, want %s", i, got, want)
		}
	}
}
