package modelserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/internal/modelserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// conversation is a request as an agent would send it.
type conversation struct {
	Model     string           `json:"model"`
	MaxTokens int              `json:"max_tokens"`
	Stream    bool             `json:"stream,omitempty"`
	Messages  []map[string]any `json:"messages"`
}

func prompt(text string) conversation {
	return conversation{Model: "claude-test", MaxTokens: 100}.user(text)
}

func (c conversation) user(text string) conversation { return c.add("user", text) }

func (c conversation) assistant() conversation { return c.add("assistant", "a reply") }

func (c conversation) toolResult() conversation {
	return c.add("user", []map[string]any{{"type": "tool_result", "tool_use_id": "t", "content": "SCENARIO:plain"}})
}

func (c conversation) add(role string, content any) conversation {
	c.Messages = append(c.Messages[:len(c.Messages):len(c.Messages)], map[string]any{"role": role, "content": content})
	return c
}

// message is what the tests read of a reply.
type message struct {
	ID         string
	Model      string
	StopReason string `json:"stop_reason"`
	Content    []struct {
		Type, Text, Thinking, Name, ID string
		Input                          json.RawMessage
	}
	Usage map[string]any
}

func (m message) text() string {
	var b strings.Builder
	for _, c := range m.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

func start(t *testing.T, cfg modelserver.Config) *modelserver.Server {
	t.Helper()
	s, err := modelserver.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

func post(t *testing.T, s *modelserver.Server, session string, c conversation) *http.Response {
	t.Helper()
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/v1/messages?beta=true", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "x")
	req.Header.Set("X-Claude-Code-Session-Id", session)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// ask posts a conversation and reads the whole reply, streamed or not.
func ask(t *testing.T, s *modelserver.Server, c conversation) message {
	t.Helper()
	resp := post(t, s, "s", c)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d", resp.StatusCode)
	}
	if c.Stream {
		return readStream(t, resp.Body)
	}
	var m message
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// readStream puts a streamed reply together the way a client does.
func readStream(t *testing.T, r io.Reader) message {
	t.Helper()
	var m message
	input := make(map[int]*strings.Builder)
	ended := false
	for lines := bufio.NewScanner(r); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type    string
			Index   int
			Message *message
			Block   json.RawMessage `json:"content_block"`
			Delta   struct {
				Text, Thinking string
				JSON           string `json:"partial_json"`
				StopReason     string `json:"stop_reason"`
			}
			Usage map[string]any
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("event %q: %v", data, err)
		}
		switch e.Type {
		case "message_start":
			m = *e.Message
		case "content_block_start":
			m.Content = append(m.Content, m.block(t, e.Block))
			input[e.Index] = new(strings.Builder)
		case "content_block_delta":
			m.Content[e.Index].Text += e.Delta.Text
			m.Content[e.Index].Thinking += e.Delta.Thinking
			input[e.Index].WriteString(e.Delta.JSON)
		case "content_block_stop":
			if m.Content[e.Index].Type == "tool_use" {
				m.Content[e.Index].Input = json.RawMessage(input[e.Index].String())
			}
		case "message_delta":
			m.StopReason, m.Usage = e.Delta.StopReason, e.Usage
		case "message_stop":
			ended = true
		}
	}
	if !ended {
		t.Error("the stream has no message_stop")
	}
	return m
}

func (m message) block(t *testing.T, raw json.RawMessage) (b struct {
	Type, Text, Thinking, Name, ID string
	Input                          json.RawMessage
}) {
	t.Helper()
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestStreamedAndWholeRepliesSayTheSame(t *testing.T) {
	s := start(t, modelserver.Config{Dir: "/repo"})
	for name := range modelserver.Script("/repo") {
		if strings.HasPrefix(name, "err") || name == "slow" || name == "midstream" {
			continue
		}
		c := prompt("SCENARIO:" + name)
		whole := ask(t, s, c)
		c.Stream = true
		streamed := ask(t, s, c)
		if whole.ID == streamed.ID {
			t.Errorf("%s: two replies share the id %s", name, whole.ID)
		}
		streamed.ID = whole.ID
		for i := range streamed.Content {
			streamed.Content[i].ID = whole.Content[i].ID // each tool call has an id of its own
		}
		if diff := cmp.Diff(whole, streamed); diff != "" {
			t.Errorf("%s (-whole +streamed):\n%s", name, diff)
		}
	}
}

func TestUsageCountsCachedTokensBesideTheInput(t *testing.T) {
	s := start(t, modelserver.Config{})
	got := ask(t, s, prompt("SCENARIO:plain")).Usage
	want := map[string]any{
		"input_tokens": 11.0, "output_tokens": 17.0, "cache_read_input_tokens": 2000.0,
		"cache_creation_input_tokens": 350.0, "service_tier": "standard",
		"cache_creation": map[string]any{"ephemeral_5m_input_tokens": 300.0, "ephemeral_1h_input_tokens": 50.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestConversationDecidesTheStep(t *testing.T) {
	s := start(t, modelserver.Config{Dir: "/repo"})
	failing := prompt("SCENARIO:failing")
	note := "<task-notification><status>completed</status></task-notification>"
	background := prompt("SCENARIO:bgagent").assistant().toolResult()
	mid := prompt("SCENARIO:bgmid").assistant().toolResult()
	for _, tc := range []struct {
		name string
		c    conversation
		want string
		stop string
	}{
		{"no scenario", prompt("hello"), "Widget session", "end_turn"},
		{"first step asks for tools", failing, "Trying things that fail.", "tool_use"},
		{"a tool's output names no scenario", failing.assistant().toolResult(), "", "tool_use"},
		{"last step ends the turn", failing.assistant().toolResult().assistant().toolResult(), "All four failed as expected.", "end_turn"},
		{"last step repeats", prompt("SCENARIO:plain").assistant().user("and then?"), "Hello from the scripted model. Two widgets are in stock.", "end_turn"},
		{"the newest scenario wins", failing.assistant().user("SCENARIO:plain2"), "Second answer: three widgets.", "end_turn"},
		{"the last tag of a prompt wins", prompt("SCENARIO:plain SCENARIO:plain2"), "Second answer: three widgets.", "end_turn"},
		{"a limit is a stop reason", prompt("SCENARIO:maxtok"), "This answer is cut off because", "max_tokens"},
		{"a report after the turn", background.assistant().user(note), "The background agent finished; its report is noted.", "end_turn"},
		{"a report within the turn", mid.user(note), "", "tool_use"},
		{"the end of a turn a report fell into", mid.user(note).assistant().toolResult(), "Both are done.", "end_turn"},
		{"compaction", failing.assistant().user("Your task is to create a detailed summary of it."),
			"<analysis>Short.</analysis>\n<summary>\n1. Primary Request: the user asked about widgets.\n2. Files: main.go.\n</summary>", "end_turn"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := ask(t, s, tc.c)
			if m.text() != tc.want || m.StopReason != tc.stop {
				t.Errorf("got %q (%s), want %q (%s)", m.text(), m.StopReason, tc.want, tc.stop)
			}
		})
	}
}

func TestFailuresAreToldInTheAPIsForm(t *testing.T) {
	s := start(t, modelserver.Config{})
	for name, want := range map[string]struct {
		status int
		kind   string
	}{
		"err500": {500, "api_error"}, "err400": {400, "invalid_request_error"}, "err401": {401, "authentication_error"},
		"err429": {429, "rate_limit_error"}, "err529": {529, "overloaded_error"}, "nosuch": {400, "invalid_request_error"},
	} {
		resp := post(t, s, "s", prompt("SCENARIO:"+name))
		var got struct {
			Type  string
			Error struct{ Type string }
		}
		if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != want.status || got.Type != "error" || got.Error.Type != want.kind {
			t.Errorf("%s: %d %+v, want %+v", name, resp.StatusCode, got, want)
		}
		if after := resp.Header.Get("Retry-After"); (after != "") != (name == "err429") {
			t.Errorf("%s: Retry-After %q", name, after)
		}
	}
}

func TestFailureThatPassesIsCountedForEachSession(t *testing.T) {
	s := start(t, modelserver.Config{})
	for _, session := range []string{"one", "two"} {
		for attempt, want := range []int{529, 200, 200} {
			if got := post(t, s, session, prompt("SCENARIO:errretry")).StatusCode; got != want {
				t.Errorf("session %s, attempt %d: %d, want %d", session, attempt+1, got, want)
			}
		}
	}
}

func TestStreamThatBreaksOffEndsInAnError(t *testing.T) {
	s := start(t, modelserver.Config{})
	c := prompt("SCENARIO:midstream")
	c.Stream = true
	raw, err := io.ReadAll(post(t, s, "s", c).Body)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(raw, []byte("event: error")) || bytes.Contains(raw, []byte("message_stop")) {
		t.Errorf("the stream: %s", raw)
	}
}

func TestHeldStreamEndsWhenTheClientLeaves(t *testing.T) {
	s := start(t, modelserver.Config{})
	c := prompt("SCENARIO:slow")
	c.Stream = true
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/v1/messages", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer x")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	until(t, "the stream is held", func() bool { return s.Held() == 1 })
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests answered while the stream is held", n)
	}
	leave()
	until(t, "the stream ends", func() bool { return s.Held() == 0 && len(s.Requests()) == 1 })
	if !s.Requests()[0].Cut {
		t.Error("a reply that its client did not stay for counts as whole")
	}
}

// until polls for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func TestHeldStreamEndsWhenTheServerCloses(t *testing.T) {
	s := start(t, modelserver.Config{})
	c := prompt("SCENARIO:slow")
	c.Stream = true
	resp := post(t, s, "s", c)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(resp.Body) // returns: the stream is over, whichever way
}

func TestRequestsAreRecorded(t *testing.T) {
	s := start(t, modelserver.Config{Scenarios: map[string]modelserver.Scenario{
		"mine": {{Blocks: []modelserver.Block{{Text: "my own"}}}},
	}})
	m := ask(t, s, prompt("SCENARIO:mine"))
	post(t, s, "s", prompt("SCENARIO:err500"))
	got := s.Requests()
	if len(got) != 2 {
		t.Fatalf("%d requests, want 2", len(got))
	}
	if got[0].Scenario != "mine" || got[0].MessageID != m.ID || got[0].Status != 200 || got[0].Session != "s" || got[0].Cut || m.text() != "my own" {
		t.Errorf("first: %+v", got[0])
	}
	if got[1].Status != 500 || got[1].MessageID != "" {
		t.Errorf("second: %+v", got[1])
	}
}

func TestDoorRefusesWhatTheAPIRefuses(t *testing.T) {
	s := start(t, modelserver.Config{})
	valid := `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`
	for _, tc := range []struct {
		name, method, path, key, body string
		want                          int
	}{
		{"count tokens", "POST", "/v1/messages/count_tokens", "x", "{}", 200},
		{"a valid request", "POST", "/v1/messages", "x", valid, 200},
		{"no credentials", "POST", "/v1/messages", "", valid, 401},
		{"bad JSON", "POST", "/v1/messages", "x", "{", 400},
		{"no model", "POST", "/v1/messages", "x", `{"max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`, 400},
		{"no max_tokens", "POST", "/v1/messages", "x", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, 400},
		{"no messages", "POST", "/v1/messages", "x", `{"model":"m","max_tokens":1,"messages":[]}`, 400},
		{"an unknown role", "POST", "/v1/messages", "x", `{"model":"m","max_tokens":1,"messages":[{"role":"tool","content":"hi"}]}`, 400},
		{"content of another type", "POST", "/v1/messages", "x", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":7}]}`, 400},
		{"too large", "POST", "/v1/messages", "x", strings.Repeat(" ", 32<<20+1), 413},
		{"another path", "POST", "/v1/complete", "x", valid, 404},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), tc.method, s.URL()+tc.path, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			if tc.key != "" {
				req.Header.Set("X-Api-Key", tc.key)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != tc.want {
				t.Errorf("%d, want %d", resp.StatusCode, tc.want)
			}
		})
	}
}

func TestScenarioWithoutStepsIsRefused(t *testing.T) {
	_, err := modelserver.Start(modelserver.Config{Scenarios: map[string]modelserver.Scenario{"empty": nil}})
	if err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("error: %v", err)
	}
}
