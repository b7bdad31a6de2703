package runtypes

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Violation is one breach of the contract, as data.
type Violation struct {
	Run   string `json:"run"`            // id of the run
	Key   string `json:"key"`            // metadata key or run field
	Kind  Kind   `json:"kind"`           // kind of the run
	Tier  Tier   `json:"tier,omitempty"` // tier of the key, empty for run fields
	Found string `json:"found"`          // what stood there, and what is wrong with it
}

func (v Violation) String() string {
	tier := ""
	if v.Tier != "" {
		tier = " (" + string(v.Tier) + ")"
	}
	return fmt.Sprintf("%s run %s: %s%s: %s", v.Kind, v.Run, v.Key, tier, v.Found)
}

// Validate takes all runs of one trace, or of many, and returns every breach of
// the contract and of LangSmith's rules for ids and dotted orders, in the order
// of the runs. Runs that cannot be encoded are reported too.
func Validate(runs []Run) []Violation {
	wires := make([]Wire, 0, len(runs))
	var bad []Violation
	for i := range runs {
		w, err := Encode(Op{Verb: Post, Run: &runs[i]})
		if err != nil {
			bad = append(bad, Violation{Run: runs[i].ID.String(), Key: "run", Kind: runs[i].Kind, Found: err.Error()})
			continue
		}
		wires = append(wires, w)
	}
	return append(bad, ValidateWire(wires)...)
}

// ValidateWire is Validate for runs in their wire form.
func ValidateWire(runs []Wire) []Violation {
	v := &validator{keys: Contract(), traces: map[string]*trace{}}
	for i := range runs {
		v.collect(&runs[i])
	}
	for i := range runs {
		v.run(&runs[i])
	}
	return v.found
}

// trace is what the runs of one trace agree on.
type trace struct {
	thread string
	known  map[string]bool  // where_known keys, by key and the kinds they are scoped to
	runs   map[string]*Wire // by id
}

type validator struct {
	keys   []Key
	traces map[string]*trace
	found  []Violation
}

func (v *validator) trace(id string) *trace {
	t := v.traces[id]
	if t == nil {
		t = &trace{known: map[string]bool{}, runs: map[string]*Wire{}}
		v.traces[id] = t
	}
	return t
}

func (v *validator) report(w *Wire, key string, tier Tier, format string, args ...any) {
	v.found = append(v.found, Violation{
		Run: w.ID, Key: key, Kind: w.Kind(), Tier: tier, Found: fmt.Sprintf(format, args...),
	})
}

// collect notes what the trace knows, before any run is judged by it.
func (v *validator) collect(w *Wire) {
	t := v.trace(w.TraceID)
	if t.runs[w.ID] != nil {
		v.report(w, "id", "", "stands twice in the trace")
	}
	t.runs[w.ID] = w
	meta := w.Metadata()
	for _, key := range v.keys {
		if _, ok := meta[key.Name]; ok && key.Tier == TierWhereKnown {
			t.known[key.Name] = true
		}
	}
	if thread, ok := meta["thread_id"].(string); ok && (t.thread == "" || w.ID == w.TraceID) {
		t.thread = thread
	}
}

func (v *validator) run(w *Wire) {
	v.shape(w)
	v.order(w)
	v.metadata(w)
}

var runTypes = []string{"tool", "chain", "llm", "retriever", "embedding", "prompt", "parser"}

// shape checks the run's own fields.
func (v *validator) shape(w *Wire) {
	for field, id := range map[string]string{"id": w.ID, "trace_id": w.TraceID} {
		if _, err := uuid.Parse(id); err != nil {
			v.report(w, field, "", "%q is no UUID", id)
		}
	}
	if w.Name == "" {
		v.report(w, "name", "", "missing")
	}
	if !slices.Contains(runTypes, w.RunType) {
		v.report(w, "run_type", "", "%q is not one of %s", w.RunType, strings.Join(runTypes, " "))
	}
	start, end, err := w.Times()
	if err != nil {
		v.report(w, "start_time", "", "%v", err)
	} else if !end.IsZero() && end.Before(start) {
		v.report(w, "end_time", "", "%s is before start_time %s", w.EndTime, w.StartTime)
	}
	for field, raw := range map[string]json.RawMessage{"inputs": w.Inputs, "outputs": w.Outputs, "extra": w.Extra} {
		if s := strings.TrimLeft(string(raw), " \t\r\n"); s != "" && s[0] != '{' {
			v.report(w, field, "", "is no object")
		}
	}
}

// order checks dotted_order against the ids it is made of.
func (v *validator) order(w *Wire) {
	segments := strings.Split(w.DottedOrder, ".")
	bad := func(format string, args ...any) { v.report(w, "dotted_order", "", format, args...) }
	ids := make([]string, len(segments))
	times := make([]time.Time, len(segments))
	for i, s := range segments {
		if len(s) != 22+36 {
			bad("segment %d is %d bytes, not 58: %q", i, len(s), s)
			return
		}
		at, err := time.Parse("20060102T150405.000000Z", s[:15]+"."+s[15:22])
		if err != nil {
			bad("segment %d: %q is no time with six sub-second digits", i, s[:22])
			return
		}
		ids[i], times[i] = s[22:], at
		if i > 0 && at.Before(times[i-1]) {
			bad("segment %d is earlier than its parent", i)
		}
	}
	last := len(ids) - 1
	if ids[last] != w.ID {
		bad("ends in %s, not in the run's id", ids[last])
	}
	if ids[0] != w.TraceID {
		v.report(w, "trace_id", "", "%s, but the dotted order starts with %s", w.TraceID, ids[0])
	}
	switch {
	case last == 0 && w.ParentRunID != "":
		v.report(w, "parent_run_id", "", "%s, but the dotted order is a root's", w.ParentRunID)
	case last > 0 && ids[last-1] != w.ParentRunID:
		v.report(w, "parent_run_id", "", "%q, but the dotted order says %s", w.ParentRunID, ids[last-1])
	}
	if start, _, err := w.Times(); err == nil && !start.UTC().Truncate(time.Microsecond).Equal(times[last]) {
		bad("its time %s is not start_time %s", times[last].Format(TimeLayout), w.StartTime)
	}
	t := v.trace(w.TraceID)
	if parent := t.runs[w.ParentRunID]; w.ParentRunID != "" && parent != nil {
		if w.DottedOrder != parent.DottedOrder+"."+segments[last] {
			bad("does not continue its parent's")
		}
	} else if w.ParentRunID != "" && t.runs[w.TraceID] != nil {
		v.report(w, "parent_run_id", "", "%s is not in the trace", w.ParentRunID)
	}
}

// metadata checks the keys of the contract.
func (v *validator) metadata(w *Wire) {
	meta, kind, t := w.Metadata(), w.Kind(), v.trace(w.TraceID)
	names := make([]string, 0, len(meta))
	for name := range meta {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if meta[name] == nil {
			v.report(w, name, "", "null: a value that is not known is left out")
		} else if s, ok := meta[name].(string); ok && s == "" {
			v.report(w, name, "", "empty: a value that is not known is left out")
		}
	}
	for _, key := range v.keys {
		value, there := meta[key.Name]
		switch {
		case there && !key.applies(kind):
			v.report(w, key.Name, key.Tier, "%v does not belong on this kind", value)
		case there:
			v.value(w, key, value, meta)
		case key.Tier == TierAlways && key.applies(kind):
			v.report(w, key.Name, key.Tier, "missing")
		case key.Tier == TierWhereKnown && key.applies(kind) && t.known[key.Name]:
			v.report(w, key.Name, key.Tier, "missing, though another run of the trace has it")
		}
	}
	if thread, ok := meta["thread_id"].(string); ok && thread != t.thread {
		v.report(w, "thread_id", TierAlways, "%q, but the trace's is %q", thread, t.thread)
	}
	if _, ok := meta["ls_is_error_interrupt"]; ok && (w.Error == "" || w.EndTime == "") {
		v.report(w, "ls_is_error_interrupt", TierContextual, "an interrupted run has an error and an end")
	}
}

// isSHA reports whether s is a full git object name.
func isSHA(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// value checks one key's value against what the contract says of it.
func (v *validator) value(w *Wire, key Key, value any, meta map[string]any) {
	bad := func(format string, args ...any) { v.report(w, key.Name, key.Tier, format, args...) }
	switch {
	case value == nil:
		return // reported with every other null
	case key.Number:
		n, ok := value.(json.Number)
		i, err := n.Int64()
		if !ok || err != nil || i < 1 {
			bad("%v is no integer from 1", value)
		}
		return
	case key.Bool:
		if value != true {
			bad("%v is not true", value)
		}
		return
	case key.Object:
		m, ok := value.(map[string]any)
		if !ok || len(m) == 0 {
			bad("is no object with content")
		} else if key.Name == "usage_metadata" {
			v.usage(w, m)
		}
		return
	}
	s, ok := value.(string)
	if !ok {
		bad("%v is no string", value)
		return
	}
	if key.Allowed != nil && !slices.Contains(key.Allowed, s) {
		bad("%q is not one of %s", s, strings.Join(key.Allowed, " "))
	}
	if same, ok := meta[key.Same].(string); ok && key.Same != "" && same != s {
		bad("%q is not %s %q", s, key.Same, same)
	}
	switch key.Name {
	case "git_commit_sha":
		if !isSHA(s) {
			bad("%q is not 40 or 64 hex digits", s)
		}
	case "git_repo_url", "repository_url":
		if u, err := url.Parse(s); err == nil && u.User != nil {
			if _, secret := u.User.Password(); secret || u.Scheme == "http" || u.Scheme == "https" {
				bad("holds credentials")
			}
		}
	case "working_directory":
		home := s == "~" || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, `~\`) // paths were scrubbed
		if !home && !path.IsAbs(s) && !windowsAbs(s) {
			bad("%q is not absolute", s)
		}
	}
}

// usage checks that token counts are whole and add up.
func (v *validator) usage(w *Wire, m map[string]any) {
	count := map[string]int64{}
	for _, name := range []string{"input_tokens", "output_tokens", "total_tokens"} {
		n, ok := m[name].(json.Number)
		i, err := n.Int64()
		if !ok || err != nil || i < 0 {
			v.report(w, "usage_metadata", TierContextual, "%s is %v, no count", name, m[name])
			return
		}
		count[name] = i
	}
	if count["total_tokens"] != count["input_tokens"]+count["output_tokens"] {
		v.report(w, "usage_metadata", TierContextual, "total_tokens %d is not input plus output", count["total_tokens"])
	}
	for _, side := range []string{"input", "output"} {
		details, _ := m[side+"_token_details"].(map[string]any)
		var sum int64
		for _, value := range details {
			if n, ok := value.(json.Number); ok {
				i, _ := n.Int64()
				sum += i
			}
		}
		if sum > count[side+"_tokens"] {
			v.report(w, "usage_metadata", TierContextual, "%s details sum to %d, more than %s_tokens %d", side, sum, side, count[side+"_tokens"])
		}
	}
}

// windowsAbs reports whether s is an absolute path on Windows: C:\ or \\host.
func windowsAbs(s string) bool {
	if len(s) < 3 {
		return false
	}
	letter := s[0] | 0x20
	return letter >= 'a' && letter <= 'z' && s[1] == ':' && (s[2] == '\\' || s[2] == '/') || strings.HasPrefix(s, `\\`)
}
