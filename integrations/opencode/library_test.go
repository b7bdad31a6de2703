package opencode_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/integrations/opencode"
	"github.com/tracesmith/tracesmith/internal/sqliteread"
	"github.com/tracesmith/tracesmith/runtypes"
)

// library is a Source of databases and of the events of a session that is told.
type library struct{ told []integrations.Event }

func (library) Glob(string) ([]string, error) { return nil, nil }
func (library) File(string) ([]byte, error)   { return nil, fs.ErrNotExist }
func (library) Lines(string, int64) iter.Seq2[integrations.Line, error] {
	return func(yield func(integrations.Line, error) bool) { yield(integrations.Line{}, fs.ErrNotExist) }
}

func (library) Rows(path, query string, args ...any) iter.Seq2[integrations.Row, error] {
	return func(yield func(integrations.Row, error) bool) {
		for row, err := range sqliteread.Rows(path, query, args...) {
			if !yield(row, err) {
				return
			}
		}
	}
}

func (l library) Recall(ref string) (integrations.Event, error) {
	i, err := strconv.Atoi(ref)
	if err != nil || i >= len(l.told) {
		return integrations.Event{}, fs.ErrNotExist
	}
	return l.told[i], nil
}

// schema is what OpenCode's database has, as far as it is read.
const schema = `
create table session (id text primary key, parent_id text, directory text not null, version text not null, agent text, time_created integer, time_updated integer);
create table message (id text primary key, session_id text not null, time_created integer not null, data text not null);
create table part (id text primary key, message_id text not null, session_id text not null, data text not null);`

// store writes what the lines of a recording left in OpenCode's database: the last
// state of each session, message and part. What was deleted is gone.
func store(t *testing.T, home, recording string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(recording, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, ".local", "share", "opencode", "opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(query string, args ...any) {
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(schema)
	s := bufio.NewScanner(bytes.NewReader(raw))
	s.Buffer(nil, 8<<20)
	for s.Scan() {
		var l struct {
			Hook  string
			Input struct {
				SessionID string
				Event     struct {
					Type       string
					Properties struct {
						SessionID, MessageID string
						Info, Part           map[string]any
					}
				}
			}
			Output struct {
				Message map[string]any
				Parts   []map[string]any
			}
		}
		_ = json.Unmarshal(s.Bytes(), &l)
		p := l.Input.Event.Properties
		text := func(m map[string]any, key string) string { v, _ := m[key].(string); return v }
		created := func() any { v, _ := p.Info["time"].(map[string]any); return v["created"] }
		body := func(m map[string]any) string {
			kept := map[string]any{}
			for k, v := range m {
				if k != "id" && k != "sessionID" && k != "messageID" {
					kept[k] = v
				}
			}
			raw, err := json.Marshal(kept)
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		if l.Hook == "chat.message" {
			p.SessionID, p.Info = l.Input.SessionID, l.Output.Message
			exec("insert or replace into message values (?,?,?,?)", text(p.Info, "id"), p.SessionID, created(), body(p.Info))
			for _, part := range l.Output.Parts {
				exec("insert or replace into part values (?,?,?,?)", text(part, "id"), text(part, "messageID"), p.SessionID, body(part))
			}
		}
		switch l.Input.Event.Type {
		case "session.created", "session.updated":
			if created() == nil {
				continue // nothing new
			}
			var parent any
			if id := text(p.Info, "parentID"); id != "" {
				parent = id
			}
			exec("insert or replace into session values (?,?,?,?,?,?,?)", text(p.Info, "id"), parent, text(p.Info, "directory"), text(p.Info, "version"), text(p.Info, "agent"), created(), created())
		case "session.deleted":
			exec("delete from session where id = ?", p.SessionID)
			exec("delete from message where session_id = ?", p.SessionID)
		case "message.updated":
			exec("insert or replace into message values (?,?,?,?)", text(p.Info, "id"), p.SessionID, created(), body(p.Info))
		case "message.removed":
			exec("delete from message where id = ?", p.MessageID)
		case "message.part.updated":
			exec("insert or replace into part values (?,?,?,?)", text(p.Part, "id"), text(p.Part, "messageID"), p.SessionID, body(p.Part))
		}
	}
}

// imported are the runs that a home's database gives, and the traces it told of.
func imported(t *testing.T, home, path string) (runs map[string]runtypes.Wire, traces []uuid.UUID) {
	t.Helper()
	runs = map[string]runtypes.Wire{}
	agent := opencode.Agent()
	for s, err := range agent.Past(library{}, integrations.Place{Home: home, Path: path, Env: func(string) string { return "" }}) {
		if err != nil {
			t.Fatal(err)
		}
		told, err := s.Tell(library{})
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, told.Traces...)
		src := library{told: told.Events}
		r := agent.NewReducer(integrations.Options{})
		for i, e := range append(told.Events, integrations.Event{Kind: integrations.Grew}, integrations.Event{Kind: integrations.Dead}) {
			e.Ref = strconv.Itoa(i)
			ops, err := r.Apply(src, e)
			if err != nil {
				t.Fatal(err)
			}
			for _, op := range ops {
				wire, err := runtypes.Encode(op)
				if err != nil {
					t.Fatal(err)
				}
				if before, known := runs[wire.ID]; known {
					wire = runtypes.MergeWire(before, wire)
				}
				runs[wire.ID] = wire
			}
		}
	}
	return runs, traces
}
