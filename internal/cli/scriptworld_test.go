package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/capture"
	"github.com/tracesmith/tracesmith/internal/ingest"
)

// wireServer starts a LangSmith for a script. What is sent to it is appended to the
// file wire.txt, with the headers that say whose it is. A script that wants it sets
// LANGSMITH_ENDPOINT=$SERVER and LANGSMITH_API_KEY=key.
func wireServer(e *testscript.Env) error {
	var mu sync.Mutex
	wire := filepath.Join(e.WorkDir, "wire.txt")
	if err := os.WriteFile(wire, nil, 0o600); err != nil {
		return err
	}
	server, err := ingest.Start(ingest.Config{Key: "key", Observe: func(r *http.Request, body []byte) {
		mu.Lock()
		defer mu.Unlock()
		f, err := os.OpenFile(wire, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			panic(err)
		}
		defer f.Close()
		fmt.Fprintf(f, "X-Tenant-Id: %s\n%s\n", r.Header.Get("X-Tenant-Id"), body)
	}}, "")
	if err != nil {
		return err
	}
	e.Setenv("SERVER", server.URL())
	e.Defer(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Close(ctx)
	})
	return nil
}

// playTurn is the command turn of scripts: turn SESSION TURN FOLDER PROMPT REPLY has Cursor's hooks
// take a whole turn, in which a tool runs the command REPLY names as well. No drainer is
// started. ESC in a text is that character.
func playTurn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 5 {
		ts.Fatalf("usage: turn SESSION TURN FOLDER PROMPT REPLY")
	}
	session, id, dir := args[0], args[1], ts.MkAbs(args[2])
	events := []map[string]any{
		{"hook_event_name": "beforeSubmitPrompt", "prompt": args[3]},
		{"hook_event_name": "postToolUse", "tool_name": "Shell", "tool_use_id": "tool-" + id, "tool_input": map[string]string{"command": "print " + args[4]}, "tool_output": "the tool says " + args[4], "duration": 3},
		{"hook_event_name": "afterAgentResponse", "text": args[4], "input_tokens": 12, "output_tokens": 3},
		{"hook_event_name": "stop", "status": "completed"},
	}
	for _, event := range events {
		for key, value := range map[string]any{
			"conversation_id": session, "session_id": session, "generation_id": id,
			"model": "m", "cursor_version": "3.19.13", "workspace_roots": []string{dir}, "transcript_path": nil,
		} {
			event[key] = value
		}
		payload, err := json.Marshal(event)
		ts.Check(err)
		payload = bytes.ReplaceAll(payload, []byte("ESC"), []byte(`\u001b`))
		capture.Run(capture.Config{
			Args: []string{"cursor"}, Env: ts.Getenv, Stdin: strings.NewReader(string(payload)), Stdout: io.Discard, Find: agents.Find,
			Spawn:   func(string, string) error { return nil },
			Deliver: func(string, time.Duration) error { return nil },
			Exit:    func(int) { panic("the watchdog bit") },
		})
	}
}
