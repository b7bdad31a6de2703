package journal

import (
	"encoding/json"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

// Entry is one line of a journal: what a hook was told.
type Entry struct {
	ID      string            `json:"id"` // UUIDv7; given by Append when empty
	At      time.Time         `json:"at"` // when the hook ran; given by Append when zero
	Event   string            `json:"event"`
	Session string            `json:"session"` // the agent's session id
	CWD     string            `json:"cwd,omitempty"`
	Head    integrations.Head `json:"head,omitzero"`
	Proc    Proc              `json:"proc,omitzero"`
	Policy  Policy            `json:"policy,omitzero"`
	Data    json.RawMessage   `json:"data,omitempty"` // what the agent's Project kept
}

// Proc names the agent's process so that its end can be told from a reused pid.
type Proc struct {
	PID   int    `json:"pid,omitempty"`   // 0: not known
	Start string `json:"start,omitempty"` // when it started, in the system's own unit
	Boot  string `json:"boot,omitempty"`  // which start of which system the pid counts in
}
