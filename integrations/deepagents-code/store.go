package deepagentscode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
)

// storeOf is the database of checkpoints that stands beside a transcript.
func storeOf(transcript string) string {
	if transcript == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(filepath.Dir(transcript)), ".state", "sessions.db")
}

// writesOf finds what a turn's steps wrote, oldest first, each with the checkpoint that
// its step began at and the one that followed. A checkpoint's id is a time, and as text
// the ids are in their order.
const writesOf = `
SELECT w.checkpoint_ns, w.checkpoint_id, w.task_id, w.task_path, w.channel, w.value,
	(SELECT min(k.checkpoint_id) FROM checkpoints k
	 WHERE k.thread_id = w.thread_id AND k.checkpoint_ns = w.checkpoint_ns AND k.checkpoint_id > w.checkpoint_id)
FROM writes w JOIN checkpoints c USING (thread_id, checkpoint_ns, checkpoint_id)
WHERE w.thread_id = ?1 AND w.channel IN ('messages', '__error__') AND w.type = 'msgpack'
	AND ?2 IN (json_extract(CAST(c.metadata AS TEXT), '$.turn_id'), json_extract(CAST(c.metadata AS TEXT), '$.prompt_id'))
ORDER BY w.checkpoint_id, w.task_path, w.idx`

// writesBefore finds the messages of a thread before a checkpoint.
const writesBefore = `
SELECT '', checkpoint_id, task_id, task_path, channel, value, NULL FROM writes
WHERE thread_id = ?1 AND checkpoint_ns = '' AND channel = 'messages' AND type = 'msgpack' AND checkpoint_id < ?2
ORDER BY checkpoint_id, task_path, idx`

// factsOf finds the turn's first and last checkpoint and the version that wrote them.
const factsOf = `
SELECT min(checkpoint_id), max(checkpoint_id), max(json_extract(CAST(metadata AS TEXT), '$.ls_agent_runtime_version'))
FROM checkpoints
WHERE thread_id = ?1 AND checkpoint_ns = ''
	AND ?2 IN (json_extract(CAST(metadata AS TEXT), '$.turn_id'), json_extract(CAST(metadata AS TEXT), '$.prompt_id'))`

// write is what one task of a step wrote to a channel.
type write struct {
	space    string // of the graph: empty, or the tasks that it runs below
	at       string // the checkpoint
	task     string
	node     string
	tool     bool // it is a task of a tool
	failed   bool // value is an error
	value    json.RawMessage
	from, to time.Time // of the step; zero: not known
}

// Nodes of the graph, as a task's path ends.
const (
	nodeStart  = "__start__"
	nodeModel  = "model"
	nodeUpdate = "~__interrupt__" // what the client adds after an interrupt
)

// facts are what is known of a turn as a whole.
type facts struct {
	first       string // checkpoint
	begun, last time.Time
	version     string
}

// readFacts reads what the database knows of a turn; nothing where it knows none.
func readFacts(src integrations.Source, db, thread, turn string) (*facts, error) {
	for row, err := range src.Rows(db, factsOf, thread, turn) {
		if err != nil {
			return nil, unread(err)
		}
		if len(row) != 3 || text(row[0]) == "" {
			break
		}
		return &facts{first: text(row[0]), begun: timeOf(text(row[0])), last: timeOf(text(row[1])), version: text(row[2])}, nil
	}
	return nil, nil
}

// readWrites visits the writes that a query finds. A value that cannot be read is passed
// over.
func readWrites(src integrations.Source, db, query string, args []any, visit func(*write)) error {
	for row, err := range src.Rows(db, query, args...) {
		if err != nil {
			return unread(err)
		}
		if len(row) != 7 {
			return errors.New("deepagentscode: the database has another shape")
		}
		packed, _ := row[5].([]byte)
		value, err := unpack(packed)
		if err != nil {
			continue
		}
		w := &write{
			space: text(row[0]), at: text(row[1]), task: text(row[2]), node: nodeOf(text(row[3])),
			tool:   strings.HasPrefix(text(row[3]), "~__pregel_push"),
			failed: text(row[4]) == "__error__", value: value,
			from: timeOf(text(row[1])), to: timeOf(text(row[6])),
		}
		visit(w)
	}
	return nil
}

// unread is the error of a database that is not readable; a missing one is none.
func unread(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("deepagentscode: database: %w", err)
}

func text(column any) string {
	switch c := column.(type) {
	case string:
		return c
	case []byte:
		return string(c)
	}
	return ""
}

// nodeOf is the node that a task ran, from its path: "~__pregel_pull, model".
func nodeOf(path string) string {
	if strings.HasPrefix(path, nodeUpdate) {
		return nodeUpdate
	}
	_, node, _ := strings.Cut(path, ", ")
	return node
}

// timeOf is the time in an id of the sixth or seventh version; zero if there is none.
func timeOf(id string) time.Time {
	u, err := uuid.Parse(id)
	if err != nil {
		return time.Time{}
	}
	switch u.Version() {
	case 6:
		high := uint64(u[0])<<52 | uint64(u[1])<<44 | uint64(u[2])<<36 | uint64(u[3])<<28
		ticks := high | uint64(u[4])<<20 | uint64(u[5])<<12 | uint64(u[6]&15)<<8 | uint64(u[7])
		const epoch = 0x01b21dd213814000 // between 1582 and 1970, in steps of 100 ns
		if ticks < epoch {
			return time.Time{}
		}
		return time.Unix(0, int64(ticks-epoch)*100).UTC()
	case 7:
		var ms int64
		for _, b := range u[:6] {
			ms = ms<<8 | int64(b)
		}
		return time.UnixMilli(ms).UTC()
	}
	return time.Time{}
}

// note is a message as LangChain keeps it.
type note struct {
	Type    string          `json:"type"` // human, ai, tool, system, remove
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"`
	Calls   []struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"tool_calls"`
	Usage *struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
		In     struct {
			CacheRead     int64 `json:"cache_read"`
			CacheCreation int64 `json:"cache_creation"`
			Short         int64 `json:"ephemeral_5m_input_tokens"`
			Long          int64 `json:"ephemeral_1h_input_tokens"`
			Audio         int64 `json:"audio"`
		} `json:"input_token_details"`
		Out struct {
			Reasoning int64 `json:"reasoning"`
			Audio     int64 `json:"audio"`
		} `json:"output_token_details"`
	} `json:"usage_metadata"`
	Response struct {
		Model    string `json:"model_name"`
		Provider string `json:"model_provider"`
		Stop     string `json:"stop_reason"`
		Finish   string `json:"finish_reason"`
	} `json:"response_metadata"`
	Call     string `json:"tool_call_id"`
	Status   string `json:"status"`
	Artifact struct {
		Exit *int `json:"exit_code"`
	} `json:"artifact"`
}

// notes are the messages of a write. One that replaces the conversation repeats older
// messages and holds nothing that was said: it has none.
func (w *write) notes() []note {
	var objects []json.RawMessage
	if json.Unmarshal(w.value, &objects) != nil {
		return nil
	}
	if !bytes.HasPrefix(bytes.TrimSpace(w.value), []byte("[[")) { // one message, not a list of them
		objects = []json.RawMessage{w.value}
	}
	var list []note
	for _, raw := range objects {
		var parts []json.RawMessage
		if json.Unmarshal(raw, &parts) != nil || len(parts) < 3 {
			continue
		}
		n, ok := parseNote(parts[2])
		if !ok {
			continue
		}
		if n.Type == "remove" {
			return nil
		}
		list = append(list, n)
	}
	return list
}

// parseNote reads a message. An artifact of a shape of the tool's own does not make the
// message unreadable.
func parseNote(raw json.RawMessage) (note, bool) {
	var n note
	err := json.Unmarshal(raw, &n)
	var shape *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &shape) {
		return n, false
	}
	return n, n.Type != ""
}
