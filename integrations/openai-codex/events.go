package openaicodex

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// payload is what Codex gives a hook on standard input, or the notify program as its
// last argument (the names with dashes), as far as it is read.
type payload struct {
	Session    string `json:"session_id"` // of a subagent's hook: the root thread
	Transcript string `json:"transcript_path"`
	CWD        string `json:"cwd"`
	Event      string `json:"hook_event_name"`
	Turn       string `json:"turn_id"`
	Mode       string `json:"permission_mode"`
	Agent      string `json:"agent_id"`
	Model      string `json:"model"`
	Source     string `json:"source"`
	Trigger    string `json:"trigger"`
	Prompt     string `json:"prompt"`
	Last       string `json:"last_assistant_message"`

	Type         string `json:"type"`
	NotifyThread string `json:"thread-id"`
	NotifyTurn   string `json:"turn-id"`
}

// data is what the journal keeps of a payload: references and ids. Text is there
// only where no rollout holds the content.
type data struct {
	Session    string `json:"session"`
	Transcript string `json:"transcript,omitempty"`
	Home       string `json:"home,omitempty"` // $CODEX_HOME, to find the rollout of a notify
	Turn       string `json:"turn,omitempty"`
	Mode       string `json:"mode,omitempty"`
	Agent      string `json:"agent,omitempty"`
	Model      string `json:"model,omitempty"`
	Source     string `json:"source,omitempty"`
	Trigger    string `json:"trigger,omitempty"`
	Text       string `json:"text,omitempty"`   // prompt or last message
	Parent     string `json:"parent,omitempty"` // dotted order of the run that started Codex
}

// peek reads where a payload belongs. The agent's process is the one that called the
// hook, by way of a shell.
func peek(p integrations.Payload) (integrations.Route, error) {
	in, err := parsePayload(p.Body)
	if err != nil {
		return integrations.Route{}, err
	}
	route := integrations.Route{Event: in.Event, Session: in.Session, CWD: in.CWD}
	if in.Type != notified && p.Parent > 1 {
		route.PID = p.Parent
	}
	return route, nil
}

func parsePayload(body []byte) (payload, error) {
	var in payload
	if err := json.Unmarshal(body, &in); err != nil {
		return in, fmt.Errorf("openaicodex: payload: %w", err)
	}
	if in.Event == "" && in.Type == notified {
		in.Event, in.Session, in.Turn = in.Type, in.NotifyThread, in.NotifyTurn
	}
	if in.Session == "" || in.Event == "" {
		return in, errors.New("openaicodex: payload: no session or event")
	}
	return in, nil
}

// project keeps references and drops content, except where no rollout holds it: with
// --ephemeral there is none.
func project(p integrations.Payload) (json.RawMessage, error) {
	in, err := parsePayload(p.Body)
	if err != nil {
		return nil, err
	}
	d := data{
		Session: in.Session, Transcript: in.Transcript, Turn: in.Turn, Mode: in.Mode, Agent: in.Agent,
		Model: in.Model, Source: in.Source, Trigger: in.Trigger,
	}
	if p.Env != nil {
		if parent, err := runtypes.ParentFromEnv(p.Env); err == nil { // what is no dotted order attaches to nothing
			d.Parent = parent.DottedOrder
		}
	}
	switch {
	case in.Event == notified:
		d.Home = codexHome(p.Env)
	case in.Transcript == "" || p.Exists == nil || !p.Exists(in.Transcript):
		d.Text = agentkit.Clip(cmp.Or(in.Prompt, in.Last))
	}
	return marshalData(d)
}

func marshalData(d data) (json.RawMessage, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("openaicodex: project: %w", err)
	}
	return raw, nil
}

// codexHome is the folder Codex keeps its files in; "" if nothing says where.
func codexHome(env func(string) string) string {
	if env == nil {
		return ""
	}
	if home := env("CODEX_HOME"); home != "" {
		return home
	}
	for _, key := range [...]string{"HOME", "USERPROFILE"} {
		if home := env(key); home != "" {
			return filepath.Join(home, ".codex")
		}
	}
	return ""
}

// segmentTime is when a thread went on in a file, after a rollback; zero of its first
// file.
func segmentTime(file string) time.Time {
	_, id, ok := strings.Cut(path.Base(strings.ReplaceAll(file, `\`, "/")), "_")
	if !ok {
		return time.Time{}
	}
	return idTime(strings.TrimSuffix(id, ".jsonl"))
}

// rolloutThread is the id of the thread a rollout belongs to, out of its name:
// rollout-2026-11-30T04-24-17-<thread>.jsonl, or ...-<thread>_<segment>.jsonl.
func rolloutThread(file string) string {
	const before, id = len("rollout-2026-11-30T04-24-17-"), 36
	name := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if !strings.HasPrefix(name, "rollout-") || len(name) < before+id {
		return ""
	}
	return name[before : before+id]
}
