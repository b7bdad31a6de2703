package exporter

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/zeebo/xxh3"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Replica is one of several destinations of the same runs, as LangSmith's own
// clients know them from LANGSMITH_RUNS_ENDPOINTS.
type Replica struct {
	Endpoint, APIKey, WorkspaceID string // empty: Config's
	Project                       string // empty: the run's own

	// Primary says that runs keep their ids here. Nil: they do where Project is
	// their own. Elsewhere ids are derived from theirs and Project, as LangSmith's
	// clients do it, so that one workspace can hold a run in two projects.
	Primary *bool

	// Updates are members of the run, by their names on the wire, that replace the
	// run's; those of "metadata" are added to its metadata.
	Updates map[string]any

	Spool Spool // as in Config, for this replica alone
}

// Split returns a Config for each of the replicas, or c itself where there are
// none. Whatever sends through several Clients of its own starts here.
func (c Config) Split() ([]Config, error) {
	if len(c.Replicas) == 0 {
		return []Config{c}, nil
	}
	if c.Spool != nil {
		return nil, errors.New("exporter: a spool serves one destination: set those of the replicas")
	}
	list, primaries := make([]Config, len(c.Replicas)), 0
	for i, r := range c.Replicas {
		each := c
		each.Replicas, each.replica, each.Spool = nil, &r, r.Spool
		if r.Endpoint != "" && r.Endpoint != c.Endpoint {
			each.Endpoint, each.APIKey, each.WorkspaceID, each.Token = r.Endpoint, "", "", nil // never another's key
		}
		if r.APIKey != "" {
			each.APIKey = r.APIKey
		}
		if r.WorkspaceID != "" {
			each.WorkspaceID = r.WorkspaceID
		}
		if r.Primary != nil && *r.Primary {
			primaries++
		}
		list[i] = each
	}
	if primaries > 1 {
		return nil, errors.New("exporter: more than one primary replica")
	}
	return list, nil
}

// rewrite makes the run what it is at the replica.
func (r *Replica) rewrite(w *runtypes.Wire) error {
	own := w.SessionName
	if r.Project != "" {
		w.SessionName = r.Project
	}
	keep := w.SessionName == own
	if r.Primary != nil {
		keep = *r.Primary
	}
	if keep {
		return nil
	}
	return remap(w, w.SessionName)
}

// segmentTime is the length of the time in a segment of a dotted order.
const segmentTime = len("20261130T040506007008Z")

// remap derives the ids of a run for a project. All of them are in the dotted
// order, which has to agree with them.
func remap(w *runtypes.Wire, project string) error {
	segments := strings.Split(w.DottedOrder, ".")
	ids := make([]string, len(segments))
	for i, s := range segments {
		if len(s) <= segmentTime {
			return fmt.Errorf("exporter: dotted order %q has no id", w.DottedOrder)
		}
		id, err := uuid.Parse(s[segmentTime:])
		if err != nil {
			return fmt.Errorf("exporter: dotted order %q: %w", w.DottedOrder, err)
		}
		ids[i] = remapID(id, s[:segmentTime], project).String()
		segments[i] = s[:segmentTime] + ids[i]
	}
	w.DottedOrder = strings.Join(segments, ".")
	w.ID, w.TraceID = ids[len(ids)-1], ids[0]
	if w.ParentRunID != "" && len(ids) > 1 {
		w.ParentRunID = ids[len(ids)-2]
	}
	return nil
}

// remapID is the derivation that LangSmith's clients share. Where an id is no
// UUIDv7 they take the time from the clock, which gives a post and its patch two
// ids; here it is the run's own start.
func remapID(id uuid.UUID, at, project string) uuid.UUID {
	h := xxh3.HashString128(id.String() + ":" + project).Bytes()
	var out uuid.UUID
	copy(out[:6], id[:6])
	if id.Version() != 7 {
		if start, err := time.Parse("20060102T150405", at[:15]); err == nil {
			ms := start.UnixMilli()
			out = uuid.UUID{byte(ms >> 40), byte(ms >> 32), byte(ms >> 24), byte(ms >> 16), byte(ms >> 8), byte(ms)}
		}
	}
	out[6] = 0x70 | h[0]&0x0f
	out[7] = h[1]
	out[8] = 0x80 | h[2]&0x3f
	copy(out[9:], h[3:10])
	return out
}

// apply puts the replica's updates over a serialised run.
func (r *Replica) apply(rec *record) error {
	for name, value := range r.Updates {
		raw, err := runtypes.Marshal(value)
		if err != nil {
			return err
		}
		switch name {
		case "id", "trace_id", "parent_run_id", "dotted_order":
			continue // they would not agree any more
		case "inputs", "outputs", "events", "extra", "error":
			rec.set(name, raw)
		case "metadata":
			err = rec.addMetadata(raw)
		default:
			rec.main, err = withMember(rec.main, name, raw)
		}
		if err != nil {
			return fmt.Errorf("exporter: updates: %s: %w", name, err)
		}
	}
	return nil
}

// addMetadata adds to extra.metadata.
func (r *record) addMetadata(raw json.RawMessage) error {
	var more map[string]json.RawMessage
	if err := json.Unmarshal(raw, &more); err != nil {
		return err
	}
	extra := []byte("{}")
	for _, f := range r.fields {
		if f.name == "extra" {
			extra = f.raw
		}
	}
	var parts struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(extra, &parts); err != nil {
		return err
	}
	meta := []byte(parts.Metadata)
	if len(meta) == 0 {
		meta = []byte("{}")
	}
	for key, value := range more {
		var err error
		if meta, err = withMember(meta, key, value); err != nil {
			return err
		}
	}
	extra, err := withMember(extra, "metadata", meta)
	r.set("extra", extra)
	return err
}

// withMember returns a JSON object with a member set.
func withMember(object []byte, name string, raw json.RawMessage) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	members[name] = raw
	return runtypes.Marshal(members)
}
