package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
)

// questionOf begins the id of a question about a tool call.
const questionOf = "may-i-"

// maxInput bounds what a client posts, in bytes.
const maxInput = 8 << 20

// answer does one run.
func answer(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxInput))
	in := agui.DecodeInput(raw)
	if err != nil || in == nil || r.Method != http.MethodPost {
		http.Error(w, "want a POST of a RunAgentInput", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", agui.MediaTypeSSE)
	w.Header().Set("Cache-Control", "no-store")
	s := &stream{w: w, run: agui.Text(in.RunID), callID: "call-" + agui.Text(in.RunID)}
	s.send(agui.Event{Type: agui.RunStarted, ThreadID: in.ThreadID, RunID: in.RunID, ProtocolVersion: text("1.0")})
	switch prompt := lastOf(in.Messages); {
	case len(in.Resume) > 0:
		s.callID = strings.TrimPrefix(agui.Text(in.Resume[0].InterruptID), questionOf)
		s.result("The file is gone.")
		s.say("2", "Done.", nil)
		s.finish(in, nil)
	case strings.Contains(prompt, "fail"):
		s.say("1", "Let me", nil)
		s.send(agui.Event{Type: agui.RunError, Message: text("the model is overloaded"), Code: text("overloaded")})
	case strings.Contains(prompt, "ask"):
		s.call("delete", `{"path":"notes.txt"}`)
		s.finish(in, &agui.Outcome{Type: text(agui.Interrupted), Interrupts: []agui.Interrupt{{
			ID: text(questionOf + s.callID), Reason: text("tool_call"), Message: text("Delete notes.txt?"), ToolCallID: text(s.callID),
		}}})
	case strings.Contains(prompt, "wait"):
		s.say("1", "I am thinking", nil)
		<-r.Context().Done()
	default:
		s.say("1", "I will look.", nil)
		s.call("ls", `{"path":"."}`)
		s.result("README.md\nmain.go")
		s.say("2", "There are two files: README.md and main.go — 你好.", usage())
		s.finish(in, nil)
	}
}

// stream writes the events of one run.
type stream struct {
	w      http.ResponseWriter
	run    string
	callID string // of the run's one tool call, or of the one it goes on with
}

// send writes one event at once. A client that has left is no error of the agent's.
func (s *stream) send(e agui.Event) {
	raw, err := json.Marshal(e)
	if err != nil {
		return
	}
	fmt.Fprintf(s.w, "data: %s\n\n", raw)
	_ = http.NewResponseController(s.w).Flush()
}

// say streams a message, word by word. What is known of it when it ends is its metadata.
func (s *stream) say(n, words string, end agui.Metadata) {
	id := text("message-" + s.run + "-" + n)
	s.send(agui.Event{Type: agui.TextMessageStart, MessageID: id, Role: text(string(agui.Assistant)), Metadata: model()})
	for _, word := range strings.SplitAfter(words, " ") {
		s.send(agui.Event{Type: agui.TextMessageContent, MessageID: id, Delta: text(word)})
	}
	s.send(agui.Event{Type: agui.TextMessageEnd, MessageID: id, Metadata: end})
}

// call streams a tool call of the first message.
func (s *stream) call(tool, args string) {
	id, parent := text(s.callID), text("message-"+s.run+"-1")
	s.send(agui.Event{Type: agui.ToolCallStart, ToolCallID: id, ToolCallName: text(tool), ParentMessageID: parent})
	s.send(agui.Event{Type: agui.ToolCallArgs, ToolCallID: id, Delta: text(args[:4])})
	s.send(agui.Event{Type: agui.ToolCallArgs, ToolCallID: id, Delta: text(args[4:])})
	s.send(agui.Event{Type: agui.ToolCallEnd, ToolCallID: id})
}

func (s *stream) result(output string) {
	raw, err := json.Marshal(output)
	if err != nil {
		return
	}
	s.send(agui.Event{Type: agui.ToolCallResult, ToolCallID: text(s.callID), MessageID: text("result-" + s.run), Content: raw})
}

func (s *stream) finish(in *agui.RunAgentInput, how *agui.Outcome) {
	s.send(agui.Event{Type: agui.RunFinished, ThreadID: in.ThreadID, RunID: in.RunID, Outcome: how})
}

// model names the model where a message begins, and usage what it took where it ends.
// Keys are the producer's own; the reserved one is the protocol's.
func model() agui.Metadata {
	return agui.Metadata{{Key: "model", Value: json.RawMessage(`"toy-1"`)}, {Key: "provider", Value: json.RawMessage(`"acme"`)}}
}

func usage() agui.Metadata {
	return agui.Metadata{
		{Key: "usage", Value: json.RawMessage(`{"inputTokens":120,"outputTokens":30,"totalTokens":150,"cachedInputTokens":100}`)},
		{Key: "finishReason", Value: json.RawMessage(`"stop"`)},
	}
}

// lastOf is what the user said last.
func lastOf(messages []agui.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if agui.Role(agui.Text(messages[i].Role)) == agui.User {
			return string(messages[i].Content)
		}
	}
	return ""
}

func text(s string) *string { return &s }
