package openaicodex

import (
	"slices"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// stretch is what a rollout holds of one turn. It is rebuilt from the file whenever
// a new process takes over, so none of it is in the checkpoint; and it is a function
// of the lines up to a point, so that it does not matter when one looks.
type stretch struct {
	id        string
	context   turnContext       // the last one
	place     turnContext       // the first one: where the turn happens
	prompt    *runtypes.Message // what the user asked
	typed     *runtypes.Message // what stands in the user's place where nobody asked
	origin    string            // what else began the turn
	shell     string            // the first command that the user typed
	trigger   string            // what Codex says began it
	parent    string            // the turn of another thread that started it
	bytes     int64             // of its lines so far
	entries   []entry
	shedTo    int // the content of entries before it is gone
	calls     []*call
	open      *call // the model is speaking
	tools     []*tool
	shedTools int // those below it that scripts ran have no content any more
	byID      map[string]*tool
	facts     map[string]*facts // of tools whose call is not known yet
	scripts   []*tool           // calls of code mode that may still run
	links     []link
	merges    []*compaction
	review    bool   // another thread does the work: what is said here is its report
	report    string // what was said in a review

	total *tokens // the thread's running total; nil: not known
	exact bool    // this version records the usage of each call

	start time.Time
	ready time.Time // the last thing that the model was waiting for
	last  time.Time // the last sign of work
	end   *ending
	cut   bool // another turn began, and this one never ended
}

// goal is what began a turn that works towards the thread's goal.
const goal = "goal"

// entry is one thing of the conversation: a message, what a call said, or the point
// where what stood before was replaced.
type entry struct {
	message  runtypes.Message
	call     *call
	tool     *tool // whose answer the message is
	replaced bool
}

// ending is the line that ends a turn.
type ending struct {
	at      time.Time
	aborted bool
	reason  string
	err     string
	class   string
	said    bool // it names a last message
	mute    bool // of a version that does not say why a turn failed
}

// link ties a subagent's thread to a call that started it, or told it to go on.
type link struct {
	call, thread, message string
	at                    time.Time
}

// tie notes a link, once. What send_message says begins no turn.
func (s *stretch) tie(l link) {
	if t := s.byID[l.call]; t != nil {
		if t.name == "send_message" {
			return
		}
		l.call, l.at = t.id, t.start
	}
	known := slices.ContainsFunc(s.links, func(k link) bool { return k.call == l.call && k.thread == l.thread })
	if l.thread != "" && !known {
		s.links = append(s.links, l)
	}
}

// compaction is the conversation being replaced by a summary of it.
type compaction struct {
	start, at time.Time
	call      *call // that wrote the summary; nil: not recorded
	summary   string
	index     int // of its call
}

func newStretch(id string, total *tokens) *stretch {
	return &stretch{id: id, total: total, byID: map[string]*tool{}, facts: map[string]*facts{}}
}

// made is when the turn was begun by the clock that ids are made with.
func (s *stretch) made() time.Time {
	if at := idTime(s.id); !at.IsZero() {
		return at
	}
	return s.start
}

// over reports whether the file says that nothing more belongs to the turn.
func (s *stretch) over() bool { return s.end != nil || s.cut }

// add takes a line of the turn, or one that names none while the turn is on. What
// comes after its end was not waited for by anybody.
func (s *stretch) add(r *record) {
	if s.over() {
		return
	}
	if s.start.IsZero() {
		s.start, s.ready = r.at, r.at
	}
	switch {
	case r.context != nil:
		s.context = *r.context
		if s.place.Turn == "" {
			s.place = s.context
		}
		s.ready = r.at
	case r.usage != nil:
		s.addUsage(r)
	case r.compacted != nil:
		s.addCompaction(r)
	case r.item != nil:
		s.addItem(r)
	case r.event != nil:
		s.addEvent(r)
	}
}

// say adds a message to the conversation that no model made.
func (s *stretch) say(r *record, m runtypes.Message) {
	s.entries = append(s.entries, entry{message: m})
	s.ready, s.last = r.at, r.at
}

func (s *stretch) addItem(r *record) {
	i := r.item
	switch {
	case i.Type == "message" && i.Role == "user":
		words := contentText(i.Content)
		m := runtypes.Message{Role: "user", Content: words}
		switch kind := i.kind(); {
		case kind == "multi_agent.subagent_notification", kind == "" && strings.HasPrefix(words, "<subagent_notification>"):
			s.say(r, m)
		case kind == "goal.internal_context":
			s.pursue(r, words)
		case kind == "user.text":
			if s.typed == nil {
				s.typed = &m
			}
		case kind == "": // of a version without items
			if f := shellFacts(r, words); f != nil {
				s.learn("", f)
			}
		}
	case i.Type == "agent_message":
		s.say(r, runtypes.Message{Role: "user", Name: messageName(i.Author), Content: contentText(i.Content)})
	case i.Type == "message" && i.Role == "assistant" && s.review:
		s.report, s.last = contentText(i.Content), r.at
	case i.Type == "reasoning", i.Type == "message" && i.Role == "assistant", strings.HasSuffix(i.Type, "_call"):
		s.addSpoken(r)
	case i.Type == "function_call_output" && i.CallID == "" && i.Name == "goal_objective":
		s.pursue(r, contentText(i.Output))
	case strings.HasSuffix(i.Type, "_output"):
		s.addOutput(r)
	}
}

func (s *stretch) addEvent(r *record) {
	e := r.event
	switch e.Type {
	case "task_started":
		s.ready = r.at
		if e.Attribution != nil {
			s.trigger, s.parent = e.Attribution.Trigger, e.Attribution.Parent
		}
	case "task_complete", "turn_aborted":
		s.finish(r)
	case "token_count":
		s.addCount(r)
	case "user_message":
		s.asked(r, e.Message)
	case "entered_review_mode":
		s.enterReview(r, e.Hint)
	case "item_completed":
		if e.Item != nil {
			s.addCompleted(r, e.Item)
		}
	case "exec_command_end", "mcp_tool_call_end", "patch_apply_end", "web_search_end":
		s.learn(e.CallID, legacyFacts(r))
	}
}

func (s *stretch) asked(r *record, text string) {
	m := runtypes.Message{Role: "user", Content: text}
	if s.prompt == nil {
		s.prompt = &m
	}
	s.say(r, m)
}

// pursue takes what tells the model to go on towards the thread's goal. In a turn that the
// goal began it stands in the prompt's place.
func (s *stretch) pursue(r *record, text string) {
	if s.trigger != goal {
		s.say(r, runtypes.Message{Role: "user", Content: text})
		return
	}
	s.origin = goal
	s.asked(r, text)
}

func (s *stretch) enterReview(r *record, hint string) {
	s.review, s.origin = true, "review"
	s.asked(r, hint)
}

// addCompleted takes an item that the program says is complete. Of tools it has what
// their answers leave out.
func (s *stretch) addCompleted(r *record, i *completedItem) {
	switch i.Type {
	case "UserMessage":
		s.asked(r, contentText(i.Content))
	case "HookPrompt":
		for _, part := range i.Fragments {
			s.say(r, runtypes.Message{Role: "user", Content: part.Text})
		}
	case "EnteredReviewMode":
		s.enterReview(r, i.ReviewHint)
	case "SubAgentActivity":
		if i.Kind == "started" || i.Kind == "interacted" {
			s.tie(link{call: i.ID, thread: i.Agent, at: r.at})
		}
	case "CollabAgentToolCall":
		for _, thread := range i.Receivers {
			if i.Status != "failed" && (i.Tool == "spawn_agent" || i.Tool == "send_input") {
				s.tie(link{call: i.ID, thread: thread, message: i.Prompt, at: r.at})
			}
		}
		s.learn(i.ID, itemFacts(r, i))
	case "CommandExecution", "FileChange", "McpToolCall", "WebSearch", "ImageView":
		s.last = r.at
		s.learn(i.ID, itemFacts(r, i))
	}
}

// finish takes the line that ends the turn: nothing is waited for any more.
func (s *stretch) finish(r *record) {
	e := r.event
	s.end = &ending{
		at: r.at, aborted: e.Type == "turn_aborted", reason: e.Reason,
		said: e.Last != nil && *e.Last != "", mute: len(e.Started) == 0,
	}
	if e.Error != nil {
		s.end.err, s.end.class = e.Error.Message, errorWord(e.Error.Info)
		if s.end.err == "" {
			s.end.err = "the turn failed"
		}
	}
	s.settle()
}

// cutOff notes that another turn began before this one ended.
func (s *stretch) cutOff() {
	s.cut = true
	s.settle()
}

// settle marks everything that stands so far as final.
func (s *stretch) settle() {
	for i := len(s.calls) - 1; i >= 0 && !s.calls[i].settled; i-- {
		s.calls[i].settled = true
	}
	s.open = nil
	for _, t := range s.tools {
		t.settled = t.settled || s.over() || t.answered() && !t.running
	}
}

// answer is what the turn said last.
func (s *stretch) answer() string {
	if s.review {
		return s.report
	}
	for i := len(s.calls) - 1; i >= 0; i-- {
		if s.calls[i].compaction != nil {
			continue
		}
		if text := s.calls[i].text(); text != "" {
			return text
		}
	}
	return ""
}

// isCompaction reports whether the turn is nothing but a compaction that the user
// asked for.
func (s *stretch) isCompaction() bool {
	if s.prompt != nil || len(s.merges) == 0 {
		return false
	}
	for _, c := range s.calls {
		if c.compaction == nil {
			return false
		}
	}
	return true
}
