package opencode

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// line is what the shim writes, as far as it is read.
type line struct {
	T     int64  `json:"t"`    // milliseconds
	Dir   string `json:"dir"`  // the project that the plugin was loaded for
	Lost  int    `json:"lost"` // lines dropped before this one
	Hook  string `json:"hook"`
	Input struct {
		Session string `json:"sessionID"`
		Agent   string `json:"agent"`
		Event   struct {
			Type string `json:"type"`
			properties
		} `json:"event"`
	} `json:"input"`
	Output struct {
		Message *message `json:"message"`
		Parts   []part   `json:"parts"`
		params
	} `json:"output"`
}

// properties are what comes with an event of the bus.
type properties struct {
	Properties struct {
		Session   string          `json:"sessionID"`
		Info      json.RawMessage `json:"info"` // of a session or a message
		Part      *part           `json:"part"`
		MessageID string          `json:"messageID"`
		PartID    string          `json:"partID"`
		Field     string          `json:"field"`
		Delta     string          `json:"delta"`
		Error     *failure        `json:"error"`
		Status    struct {
			Type    string `json:"type"`
			Attempt int    `json:"attempt"`
			Message string `json:"message"`
		} `json:"status"`
		ID        string `json:"id"` // of a permission
		RequestID string `json:"requestID"`
		Reply     string `json:"reply"`
		Tool      struct {
			CallID string `json:"callID"`
		} `json:"tool"`
	} `json:"properties"`
}

// event is the line's name.
func (l *line) event() string {
	if l.Hook == "event" {
		return l.Input.Event.Type
	}
	return l.Hook
}

// session is the session that the line is about, a child's own.
func (l *line) session() string {
	if l.Hook == "event" {
		return l.Input.Event.Properties.Session
	}
	return l.Input.Session
}

// maxChildren bounds the sessions that a stream remembers the parents of.
const maxChildren = 1 << 16

// family is what a stream has learned of sessions.
type family struct {
	parents map[string]string // of a subagent's session
	folders map[string]string // where a session works
}

// stream begins a stream of lines: those of a subagent's session belong to the thread
// that it was started from, which other lines have said.
func stream() func(integrations.Payload) (integrations.Route, error) {
	f := &family{parents: map[string]string{}, folders: map[string]string{}}
	return f.peek
}

func (f *family) peek(p integrations.Payload) (integrations.Route, error) {
	l, err := parseLine(p.Body)
	if err != nil {
		return integrations.Route{}, err
	}
	route := integrations.Route{Event: l.event(), Session: l.session(), PID: p.Parent, Lost: l.Lost}
	f.learn(l)
	for range 32 { // a chain of parents is as deep as agents nest
		parent := f.parents[route.Session]
		if parent == "" {
			break
		}
		route.Session = parent
	}
	if route.CWD = f.folders[route.Session]; route.CWD == "" {
		route.CWD = l.Dir
	}
	return route, nil
}

// learn takes what a line says of a session's place. A subagent's session works for the
// call that runs it now, which may be in a fork of the session that began it.
func (f *family) learn(l *line) {
	in := &l.Input.Event.Properties
	switch l.event() {
	case onCreated, onUpdated:
		if info := parseSession(in.Info); info != nil {
			if info.Directory != "" && len(f.folders) < maxChildren {
				f.folders[info.ID] = info.Directory
			}
			f.adopt(info.ID, info.Parent, false)
		}
	case onPart:
		if in.Part != nil {
			meta := in.Part.State.Metadata
			f.adopt(meta.Session, meta.Parent, in.Part.State.Status == "running")
		}
	}
}

// adopt notes the parent of a session: the first that is told, or the one of now.
func (f *family) adopt(child, parent string, now bool) {
	if _, known := f.parents[child]; known && !now || child == "" || parent == "" || child == parent {
		return
	}
	if len(f.parents) < maxChildren {
		f.parents[child] = parent
	}
}

func parseLine(body []byte) (*line, error) {
	l := new(line)
	if err := lenient(json.Unmarshal(body, l)); err != nil {
		return nil, fmt.Errorf("opencode: line: %w", err)
	}
	if l.event() == "" {
		return nil, errors.New("opencode: line: no event")
	}
	return l, nil
}

func parseSession(raw json.RawMessage) *session {
	s := new(session)
	if lenient(json.Unmarshal(raw, s)) != nil || s.ID == "" {
		return nil
	}
	return s
}

// lenient lets a field pass that is of another type than it was: the decoder has left it
// out and read the others.
func lenient(err error) error {
	if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) {
		return nil
	}
	return err
}

// data is what the journal keeps of a line.
type data struct {
	T       int64  `json:"t"`
	Session string `json:"session,omitempty"` // a child's own
	PID     int    `json:"pid,omitempty"`     // of the process that said it
	DB      string `json:"db,omitempty"`      // where OpenCode keeps the session, to count its turns
	Above   string `json:"above,omitempty"`   // the dotted order of the run that started OpenCode

	Info    *session  `json:"info,omitempty"`
	Message *message  `json:"message,omitempty"`
	Parts   []part    `json:"parts,omitempty"` // of a prompt
	Part    *part     `json:"part,omitempty"`
	Delta   *delta    `json:"delta,omitempty"`
	Error   *failure  `json:"error,omitempty"`
	Retry   string    `json:"retry,omitempty"` // why a request is made again
	Agent   string    `json:"agent,omitempty"` // whose request it is
	Params  *params   `json:"params,omitempty"`
	Asked   *question `json:"asked,omitempty"`
}

// delta is a piece of a part's text.
type delta struct {
	Message string `json:"message"`
	Part    string `json:"part"`
	Text    string `json:"text"`
}

// question is a permission that a person was asked for, or the answer.
type question struct {
	ID    string `json:"id"`
	Call  string `json:"call,omitempty"`
	Reply string `json:"reply,omitempty"` // once, always, reject
}

// project keeps of a line what the reducer reads. There is no other record of it: the
// database lags and holds no piece of a reply.
func project(p integrations.Payload) (json.RawMessage, error) {
	l, err := parseLine(p.Body)
	if err != nil {
		return nil, err
	}
	in := &l.Input.Event.Properties
	d := data{T: l.T, Session: l.session(), PID: p.Parent}
	switch l.event() {
	case onPrompt:
		d.Message, d.Parts, d.DB = l.Output.Message, l.Output.Parts, database(p.Env)
		if p.Env != nil {
			if parent, err := runtypes.ParentFromEnv(p.Env); err == nil {
				d.Above = parent.DottedOrder
			}
		}
	case onRequest:
		d.Agent, d.Params = l.Input.Agent, &l.Output.params
	case onCreated, onUpdated, onDeleted:
		d.Info = parseSession(in.Info)
	case onError:
		d.Error = in.Error
	case onStatus:
		if in.Status.Type == "retry" {
			d.Retry = agentkit.Clip(in.Status.Message)
		}
	case onMessage:
		d.Message = new(message)
		if err := lenient(json.Unmarshal(in.Info, d.Message)); err != nil {
			return nil, fmt.Errorf("opencode: message: %w", err)
		}
	case onPart:
		d.Part = in.Part
		d.Part.slim()
	case onDelta:
		if in.Field == "text" {
			d.Delta = &delta{Message: in.MessageID, Part: in.PartID, Text: in.Delta}
		}
	case onPermission:
		d.Asked = &question{ID: in.ID, Call: in.Tool.CallID}
	case onReply:
		d.Asked = &question{ID: in.RequestID, Reply: in.Reply}
	}
	return marshalData(d)
}

func marshalData(d data) (json.RawMessage, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("opencode: project: %w", err)
	}
	return raw, nil
}

// database is the file that OpenCode keeps sessions in; "" if nothing says where.
func database(env func(string) string) string {
	if env == nil {
		return ""
	}
	if folder := env("XDG_DATA_HOME"); folder != "" {
		return filepath.Join(folder, Name, dbName)
	}
	for _, key := range [...]string{"HOME", "USERPROFILE"} {
		if home := env(key); home != "" {
			return filepath.Join(home, ".local", "share", Name, dbName)
		}
	}
	return ""
}

const dbName = "opencode.db"
