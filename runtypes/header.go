package runtypes

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strings"
)

// Headers that carry a trace from one process to another, as LangSmith's own
// libraries write them.
const (
	HeaderTrace   = "langsmith-trace" // the dotted order of the run to go under
	HeaderBaggage = "baggage"         // metadata, tags and project, percent-encoded
)

// Carrier is what headers are written to and read from, such as an http.Header.
type Carrier interface {
	Get(key string) string
	Set(key, value string)
}

// Bounds of what is written to and read from a baggage header, in bytes. W3C
// Baggage has every hop carry 8192.
const (
	maxBaggage     = 8192
	maxBaggageText = 1024
)

// The members of the baggage that are LangSmith's.
const (
	baggageOwn      = "langsmith-"
	baggageMetadata = baggageOwn + "metadata"
	baggageTags     = baggageOwn + "tags"
	baggageProject  = baggageOwn + "project"
)

// Inject writes the trace of ctx to the headers of a call, so that the program
// that takes the call can join it. Other members of the baggage stay. It does
// nothing where ctx carries no turn. The headers name the thread, the repository
// and the folder: send them to programs of your own only.
func Inject(ctx context.Context, to Carrier) {
	FromContext(ctx).Inject(to)
}

// Inject writes the turn to headers: see the function [Inject].
func (t *Turn) Inject(to Carrier) {
	if t != nil {
		t.inject(to)
	}
}

// Inject writes the call to headers: what the other side records goes under it.
func (c *Child) Inject(to Carrier) {
	if c != nil {
		c.inject(to)
	}
}

func (s *scope) inject(to Carrier) {
	shared := s.handed()
	s.mu.Lock()
	r := *s.run
	s.mu.Unlock()

	to.Set(HeaderTrace, r.DottedOrder)
	baggage := foreign(to.Get(HeaderBaggage))
	add := func(key, text string) {
		if text != "" && len(strings.Join(baggage, ","))+len(key)+len(text)+2 <= maxBaggage {
			baggage = append(baggage, key+"="+text)
		}
	}
	own := r.Identity.carried()
	before := len(baggage)
	add(baggageMetadata, escapeJSON(merged(shared, own)))
	if len(baggage) == before { // too much of the user's own
		add(baggageMetadata, escapeJSON(own))
	}
	project := r.Project
	if to, tells := s.sink.(interface{ Project() string }); tells && project == "" {
		project = to.Project()
	}
	add(baggageProject, escape(project))
	if len(baggage) > 0 {
		to.Set(HeaderBaggage, strings.Join(baggage, ","))
	}
}

// foreign returns the members of a baggage header that are not LangSmith's.
func foreign(header string) []string {
	var list []string
	if len(header) > maxBaggage {
		return nil
	}
	for _, member := range strings.Split(header, ",") {
		if member = strings.TrimSpace(member); member != "" && !strings.HasPrefix(member, baggageOwn) {
			list = append(list, member)
		}
	}
	return list
}

// carried is what the identity says to the programs that join its trace: what all
// runs of a trace share, and whose trace it is. readMetadata reads it.
func (id Identity) carried() map[string]any {
	m := map[string]any{}
	for key, text := range map[string]string{
		"ls_integration": id.Integration, "ls_agent_runtime": id.AgentRuntime(), "ls_agent_version": id.RuntimeVersion,
		"thread_id": id.ThreadID, "turn_id": id.TurnID, "user_id": id.UserID,
		"git_repo_url": id.Repo.URL, "git_branch": id.Repo.Branch, "git_commit_sha": id.Repo.SHA,
		"working_directory": id.WorkingDirectory, "capture_level": string(id.Level),
	} {
		if text != "" {
			m[key] = text
		}
	}
	if id.TurnNumber > 0 {
		m["turn_number"] = id.TurnNumber
	}
	if id.Level == LevelMetadata {
		m["ls_tracing_mode"] = "metadata"
	}
	return m
}

func escapeJSON(m map[string]any) string {
	raw, err := Marshal(m)
	if err != nil {
		return ""
	}
	return escape(string(raw))
}

// escape percent-encodes a baggage value; url.QueryEscape would make blanks plus
// signs.
func escape(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// Extract reads the trace that the headers of a call carry. ok is false, and the
// Parent zero, where they carry none that is valid. A caller's headers are input:
// only what is shaped as it should be is taken, within bounds. They name a project,
// since a trace lives in one, but neither a server nor a key.
func Extract(from Carrier) (p Parent, ok bool) {
	header := from.Get(HeaderTrace)
	if header == "" || len(header) > maxBaggage {
		return Parent{}, false
	}
	p, err := ParseParent(header)
	if err != nil {
		return Parent{}, false
	}
	baggage := from.Get(HeaderBaggage)
	if len(baggage) > maxBaggage {
		return p, true
	}
	for _, member := range strings.Split(baggage, ",") {
		key, text, _ := strings.Cut(strings.TrimSpace(member), "=")
		text, _, _ = strings.Cut(text, ";") // properties
		text, err := url.PathUnescape(strings.TrimSpace(text))
		if err != nil {
			continue
		}
		switch strings.TrimSpace(key) {
		case baggageMetadata:
			p.Identity, p.Metadata = readMetadata(text)
		case baggageTags:
			for _, tag := range strings.Split(text, ",") {
				if tag = bounded(tag); tag != "" {
					p.Tags = append(p.Tags, tag)
				}
			}
		case baggageProject:
			p.Project = bounded(text)
		}
	}
	return p, true
}

// bounded returns a text that may stand in a run; empty if it may not.
func bounded(s string) string {
	if len(s) > maxBaggageText || s != printable(s) {
		return ""
	}
	return s
}

// readMetadata tells the identity in a parent's metadata from the user's own keys.
func readMetadata(text string) (Identity, map[string]any) {
	var meta map[string]any
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	if dec.Decode(&meta) != nil {
		return Identity{}, nil
	}
	str := func(key string) string {
		s, _ := meta[key].(string)
		return bounded(s)
	}
	var id Identity
	id.Integration = str("ls_integration")
	id.RuntimeVersion = str("ls_agent_version")
	id.Runtime = strings.TrimSuffix(str("ls_agent_runtime"), " "+id.RuntimeVersion)
	id.ThreadID, id.TurnID = str("thread_id"), str("turn_id")
	if n, ok := meta["turn_number"].(json.Number); ok {
		if i, err := n.Int64(); err == nil && i > 0 && i <= 1<<30 {
			id.TurnNumber = int(i)
		}
	}
	id.Repo = Repo{URL: str("git_repo_url"), Branch: str("git_branch"), SHA: str("git_commit_sha")}
	if strings.Contains(id.Repo.URL, "@") && strings.HasPrefix(id.Repo.URL, "http") {
		id.Repo.URL = "" // credentials
	}
	if !isSHA(id.Repo.SHA) {
		id.Repo.SHA = ""
	}
	id.WorkingDirectory, id.UserID = str("working_directory"), str("user_id")
	if id.Level = Level(str("capture_level")); str("ls_tracing_mode") == "metadata" || id.Level != "" && id.Level.rank() == 0 {
		id.Level = LevelMetadata
	}

	for _, key := range Contract() {
		delete(meta, key.Name)
	}
	for key, v := range meta {
		if bounded(key) == "" || !scalar(v) {
			delete(meta, key)
		}
	}
	return id, copyMap(meta)
}

// scalar reports whether a value is one that a stranger may put into metadata.
func scalar(v any) bool {
	switch v := v.(type) {
	case string:
		return bounded(v) != ""
	case json.Number, bool:
		return true
	}
	return false
}
