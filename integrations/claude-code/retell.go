package claudecode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/integrations"
)

// A session without hooks is told by the hooks' events that its transcript proves:
// the start, the prompts, subagents, and compactions that the user asked for. The
// reducer finds everything else in the transcript, as it does after a drainer that
// came late.

// outline is what a transcript tells of a session.
type outline struct {
	session, transcript string

	cwd      string
	forked   bool
	cleared  bool // it began with a /clear in another session
	passages []passage
	stops    bool // this version notes why the model stopped
	known    map[string]bool
}

// passage is a turn, or a compaction between turns.
type passage struct {
	prompt     string
	at         time.Time // of the prompt's line, or of the compaction's boundary
	cwd        string
	compaction bool
	began      time.Time // of the compaction
	answered   bool      // the last that was said is the model's text
}

// retell tells a session from its files.
func retell(src integrations.Source, transcript string, subagents []string) (integrations.Told, error) {
	o := outline{
		session:    strings.TrimSuffix(filepath.Base(transcript), ".jsonl"),
		transcript: transcript,
		known:      map[string]bool{},
	}
	if err := o.read(src); err != nil {
		return integrations.Told{}, err
	}
	return integrations.Told{CWD: o.cwd, Events: o.events(agentsOf(src, subagents)), Traces: o.traces()}, nil
}

// read takes in the whole transcript.
func (o *outline) read(src integrations.Source) error {
	for raw, err := range src.Lines(o.transcript, 0) {
		if err != nil {
			return fmt.Errorf("claudecode: transcript: %w", err)
		}
		if l, ok := parseLine(raw.Data); ok {
			o.add(&l)
		}
	}
	o.passages = slices.DeleteFunc(o.passages, func(s passage) bool {
		// A compaction that a fork copied bears the id of the fork's first prompt.
		return s.compaction && (s.prompt == "" || o.forked && o.known[s.prompt])
	})
	return nil
}

func (o *outline) add(l *line) {
	if o.cwd == "" {
		o.cwd = l.CWD
	}
	switch {
	case l.Type == "assistant" && l.copied():
		o.forked = true
		o.passages = nil
		clear(o.known)
	case l.mends():
	case l.Type == "assistant":
		o.reply(l)
	case l.startsTurn():
		o.turn(l)
	case l.Subtype == "compact_boundary" && l.Compact != nil && l.Compact.Trigger == "manual":
		took := time.Duration(l.Compact.DurationMs * float64(time.Millisecond))
		o.passages = append(o.passages, passage{at: l.Timestamp, cwd: l.CWD, compaction: true, began: l.Timestamp.Add(-took)})
	case l.IsCompactSummary:
		if last := o.last(); last != nil && last.compaction && last.prompt == "" {
			last.prompt = l.PromptID
		}
	case l.Type == "user":
		if last := o.last(); last != nil {
			last.answered = false
		} else {
			o.cleared = o.cleared || l.clears()
		}
	}
}

func (o *outline) last() *passage {
	if len(o.passages) == 0 {
		return nil
	}
	return &o.passages[len(o.passages)-1]
}

// turn takes a prompt's line. Those that a fork copied at its end, without a reply,
// bear the id of its first own prompt: the last one counts.
func (o *outline) turn(l *line) {
	switch {
	case o.known[l.PromptID] && o.forked:
		o.passages = slices.DeleteFunc(o.passages, func(s passage) bool { return s.prompt == l.PromptID })
	case o.known[l.PromptID]:
		return
	}
	o.known[l.PromptID] = true
	o.passages = append(o.passages, passage{prompt: l.PromptID, at: l.Timestamp, cwd: l.CWD})
}

func (o *outline) reply(l *line) {
	o.stops = o.stops || l.Message.StopReason != nil
	last := o.last()
	if last == nil {
		return
	}
	blocks := l.Message.blocks()
	last.answered = len(blocks) > 0 && blocks[len(blocks)-1].Type == "text" && !l.Aborted && !l.IsAPIError
}

// traces derives the ids that the reducer will give the roots.
func (o *outline) traces() []uuid.UUID {
	r := &reducer{Session: o.session}
	var ids []uuid.UUID
	for _, p := range o.passages {
		kind := "root"
		if p.compaction {
			kind = "compaction"
		}
		ids = append(ids, r.id(p.at, p.prompt, kind, p.prompt))
	}
	return ids
}

// events tells the session. The agents are those that each prompt started.
func (o *outline) events(agents map[string][]pastAgent) []integrations.Event {
	list := []integrations.Event{o.start()}
	for _, s := range o.passages {
		if s.compaction {
			list = append(list,
				o.event("PreCompact", s.began, s.cwd, data{Prompt: s.prompt, Trigger: "manual"}),
				o.event("PostCompact", s.at, s.cwd, data{Prompt: s.prompt, Trigger: "manual"}))
			continue
		}
		list = append(list, o.event("UserPromptSubmit", s.at, s.cwd, data{Prompt: s.prompt}))
		for _, a := range agents[s.prompt] {
			list = append(list, o.agent(a)...)
		}
		if s.answered && !o.stops {
			// The transcript alone would not say that the turn was not cut off.
			list = append(list, o.event("Stop", s.at, s.cwd, data{Prompt: s.prompt}))
		}
	}
	if o.cleared {
		for _, prompt := range slices.Sorted(maps.Keys(agents)) {
			if o.known[prompt] {
				continue
			}
			for _, a := range agents[prompt] { // it outlived the /clear
				list = append(list, o.agent(a)...)
			}
		}
	}
	return list
}

// start begins the session. What a fork copied is older than its start.
func (o *outline) start() integrations.Event {
	d := data{Source: "startup"}
	var at time.Time
	if len(o.passages) > 0 {
		at = o.passages[0].at
	}
	switch {
	case o.forked:
		d.Source = "fork"
	case o.cleared:
		d.Source = "clear"
	}
	return o.event("SessionStart", at, o.cwd, d)
}

func (o *outline) agent(a pastAgent) []integrations.Event {
	d := data{Prompt: a.prompt, Agent: a.id, AgentType: a.kind, AgentPath: a.path}
	list := []integrations.Event{o.event("SubagentStart", a.at, a.cwd, d)}
	for range a.stops {
		list = append(list, o.event("SubagentStop", a.at, a.cwd, d))
	}
	return list
}

func (o *outline) event(kind string, at time.Time, cwd string, d data) integrations.Event {
	d.Session, d.Transcript = o.session, o.transcript
	raw, err := json.Marshal(d)
	if err != nil {
		raw = nil // strings and numbers always encode
	}
	return integrations.Event{Kind: kind, At: at, CWD: cwd, Data: raw}
}

// pastAgent is a subagent as its files tell of it.
type pastAgent struct {
	id, kind, path string
	prompt         string // the turn it was started in
	cwd            string
	at             time.Time // of its first line
	stops          int
}

// agentsOf reads the subagents' files, by the prompt they were started in. One that
// cannot be read is left out: what can be built is built.
func agentsOf(src integrations.Source, paths []string) map[string][]pastAgent {
	agents := map[string][]pastAgent{}
	for _, path := range paths {
		if a, ok := readAgent(src, path); ok {
			agents[a.prompt] = append(agents[a.prompt], a)
		}
	}
	for _, list := range agents {
		slices.SortFunc(list, func(a, b pastAgent) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) })
	}
	return agents
}

func readAgent(src integrations.Source, path string) (pastAgent, bool) {
	a := pastAgent{path: path}
	a.id = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "agent-"), ".jsonl")
	for raw, err := range src.Lines(path, 0) {
		if err != nil {
			return a, false
		}
		if l, ok := parseLine(raw.Data); ok && l.Type == "user" {
			a.prompt, a.at, a.cwd = l.PromptID, l.Timestamp, l.CWD
			break
		}
	}
	var meta struct {
		Type     string `json:"agentType"`
		Finished bool   `json:"finished"`
	}
	if raw, err := src.File(strings.TrimSuffix(path, ".jsonl") + ".meta.json"); err == nil {
		_ = json.Unmarshal(raw, &meta) // garbled: as if it were not there
	}
	a.kind = cmp.Or(meta.Type, "unknown")
	if a.stops = stopsOf(src, path); meta.Finished {
		a.stops = max(1, a.stops)
	}
	return a, a.prompt != ""
}

// stopsOf counts how often a subagent's transcript says that it is over: it may have been
// made to go on.
func stopsOf(src integrations.Source, path string) int {
	stops := 0
	for th := newThread(0); ; th = newThread(th.next) {
		if th.grow(src, path, "") != nil {
			return stops
		}
		switch _, ended := th.outcome(); {
		case th.rests > 0:
			stops += th.rests
		case ended:
			stops++
		}
		if !th.over {
			return stops
		}
	}
}
