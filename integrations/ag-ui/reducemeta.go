package agui

import (
	"encoding/json"
	"strings"
)

// flat returns the keys of an item's metadata that its run takes on as they are, so that
// they can be filtered by. A stream never says who the run is: what LangSmith reads for
// an identity, a thread or a count stays out, and is found under ag_ui.metadata with all
// the rest. The reserved key is the protocol's and not a run's.
func flat(md Metadata) map[string]any {
	if len(md) == 0 {
		return nil
	}
	out := make(map[string]any, len(md)+1)
	for _, f := range md {
		if !guarded(f.Key) {
			out[f.Key] = f.Value
		}
	}
	return out
}

// guarded keys are not taken from a stream.
func guarded(key string) bool {
	switch key {
	case "", ReservedKey, ownKey, VendorKey,
		"thread_id", "session_id", "conversation_id", "run_id", "trace_id", "parent_run_id",
		"usage_metadata", "revision_id", "working_directory", "cwd":
		return true
	}
	for _, prefix := range []string{"ls_", "git_", "repository_"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// ownKey is where a run keeps what AG-UI says of it.
const ownKey = "ag_ui"

// facts are what goes under ownKey. Values that say nothing are not added.
type facts map[string]any

func (f facts) text(key string, s *string) facts {
	if s != nil && *s != "" {
		f[key] = *s
	}
	return f
}

func (f facts) json(key string, raw json.RawMessage) facts {
	if len(raw) > 0 {
		f[key] = raw
	}
	return f
}

// metadata adds the exact object, unless it says nothing.
func (f facts) metadata(key string, md Metadata) facts {
	if len(md) > 0 {
		f[key] = md
	}
	return f
}

// metadataOfRun joins the flat keys with what is under ownKey.
func metadataOfRun(md Metadata, own facts) map[string]any {
	out := flat(md)
	if out == nil {
		out = make(map[string]any, 1)
	}
	if len(own) > 0 {
		out[ownKey] = own
	}
	return out
}
