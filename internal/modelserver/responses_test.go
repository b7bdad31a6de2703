package modelserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/internal/modelserver"
)

func TestResponsesFollowTheScenarioOfThePrompt(t *testing.T) {
	s, err := modelserver.Start(modelserver.Config{Scenarios: modelserver.CodexScript()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	ask := func(input string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/v1/responses", strings.NewReader(`{"model":"m","stream":true,"input":[`+input+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer x")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	const prompt = `{"type":"message","role":"user","content":[{"type":"input_text","text":"SCENARIO:codex-patch please"}]}`
	const answered = `{"type":"custom_tool_call_output","call_id":"c","output":"ok"}`
	for i, want := range []string{"Add File: widget.py", "nosuch.py", "One patch went in."} {
		input := prompt + strings.Repeat(`,{"type":"custom_tool_call","call_id":"c"},`+answered, i)
		status, body := ask(input)
		if status != http.StatusOK || !strings.Contains(body, want) || !strings.Contains(body, "event: response.completed") {
			t.Errorf("step %d: status %d, want %q in %s", i, status, want, body)
		}
	}
	if status, body := ask(`{"role":"user","content":"SCENARIO:codex-err400"}`); status != http.StatusBadRequest || !strings.Contains(body, "Invalid value") {
		t.Errorf("status %d, %s", status, body)
	}
	if status, _ := ask(`{"role":"user","content":"SCENARIO:nothing"}`); status != http.StatusBadRequest {
		t.Errorf("an unknown scenario gave %d", status)
	}
	requests := s.Requests()
	if n := len(requests); n != 4 || requests[2].Step != 2 || requests[2].Usage.Output != 40 {
		t.Errorf("%d requests: %+v", n, requests)
	}
}
