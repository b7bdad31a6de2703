package exporter

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Replica is one of several destinations of the same runs, as LangSmith's own
// clients know them from LANGSMITH_RUNS_ENDPOINTS.
type Replica struct {
	Endpoint, APIKey, WorkspaceID string      // empty: Config's
	Credentials                   http.Header // as in Config, in place of APIKey
	Project                       string      // empty: the run's own
	Address                       string      // as in Config, in place of Project

	// Primary says that runs keep their ids here. Nil: they do where Project is
	// their own. Elsewhere ids are derived from theirs and Project, as LangSmith's
	// clients do it, so that one workspace can hold a run in two projects.
	Primary *bool

	// Reroot makes turns that runtypes.Join attached to another program's run the
	// roots of traces of their own here, where that run is not. "reroot" in Updates
	// says the same.
	Reroot bool

	// Updates are members of the run, by their names on the wire, that replace the
	// run's, null leaving it out; those of "metadata" are added to its metadata.
	Updates map[string]any

	Spool Spool // as in Config, for this replica alone
}

// Split returns a Config for each of the replicas, or c itself where there are
// none. Whatever sends through several Clients of its own starts here.
func (c Config) Split() ([]Config, error) {
	if c.unusable != nil {
		return nil, c.unusable
	}
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
		if err := r.checkUpdates(); err != nil {
			return nil, err
		}
		if r.Endpoint != "" && base(r.Endpoint) != base(c.Endpoint) {
			each.Endpoint, each.APIKey, each.WorkspaceID, each.Token, each.Credentials = r.Endpoint, "", "", nil, nil // never another's key
		}
		if r.APIKey != "" || len(r.Credentials) > 0 {
			each.APIKey, each.Credentials, each.Token = r.APIKey, r.Credentials, nil
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

// base is an endpoint as it is compared with others.
func base(endpoint string) string {
	return cmp.Or(strings.TrimRight(unquote(endpoint), "/"), DefaultEndpoint)
}

// rewrite makes the run what it is at the replica. remote is the run that its turn
// is attached to, if there is one.
func (r *Replica) rewrite(w *runtypes.Wire, remote uuid.UUID) error {
	project, address := w.SessionName, w.Address
	switch {
	case r.Project != "":
		w.SessionName, w.Address = r.Project, ""
	case r.Address != "":
		w.SessionName, w.Address = "", r.Address
	}
	if (r.Reroot || r.Updates["reroot"] == true) && remote != uuid.Nil {
		reroot(w, remote.String())
	}
	keep := w.SessionName == project && w.Address == address
	if r.Primary != nil {
		keep = *r.Primary
	}
	if keep {
		return nil
	}
	return remap(w, cmp.Or(w.SessionName, w.Address))
}

// reroot cuts off the dotted order what is above and including the remote run.
func reroot(w *runtypes.Wire, remote string) {
	_, own, found := strings.Cut(w.DottedOrder, remote+".")
	if !found {
		return
	}
	w.DottedOrder, w.TraceID = own, own[segmentTime:segmentTime+idLength]
	if w.ParentRunID == remote {
		w.ParentRunID = ""
	}
}

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
	hi, lo := xxh128(id.String() + ":" + project)
	h := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, hi), lo)
	var out uuid.UUID
	copy(out[:6], id[:6])
	if id.Version() != 7 {
		if start, err := time.Parse(segmentLayout, at[:wholeSeconds]); err == nil {
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
