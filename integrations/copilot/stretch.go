package copilot

import (
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/runtypes"
)

// stretch is what the log holds of one turn, or of what a subagent did at a time. It is
// rebuilt from the file whenever a new process takes over, so none of it is in the
// checkpoint; and it is a function of the lines up to a point, so that it does not
// matter when one looks.
type stretch struct {
	place   place             // where it happens
	prompt  *runtypes.Message // what the user asked
	task    string            // what the call that started a subagent asked, for where no prompt says so
	entries []entry
	calls   []*call
	open    *call // the model is at work
	inRound bool
	tools   []*tool
	byID    map[string]*tool
	merges  []*compaction
	merging *compaction

	start time.Time
	ready time.Time // the last thing that the model was waiting for
	last  time.Time // the last sign of work
	until time.Time // when it was last known to go on, where that is later

	interactions []string
	stop         string // the agentStop hook that is running
	leave        string // the sessionEnd hook that is running
	blocked      string // the prompt that an agentStop hook made
	mute         bool   // an agentStop hook let it end without an answer: an error may say why, even behind sessionEnd
	failed       *outcome
	end          *outcome
	cut          bool // something else began, and this never ended
	left         bool // the session ended over it
}

// entry is one thing of the conversation: a message, what a call said, or the point
// where what stood before was replaced.
type entry struct {
	message  runtypes.Message
	call     *call
	replaced bool
}

// outcome says how a turn or a subagent ended.
type outcome struct {
	at          time.Time
	err, class  string
	interrupted bool
}

// compaction is the conversation being replaced by a summary of it.
type compaction struct {
	index     int
	start, at time.Time
	done      bool
	what      compacted
}

func newStretch(where place, at time.Time) *stretch {
	return &stretch{place: where, byID: map[string]*tool{}, start: at, ready: at, last: at}
}

// over reports whether the log says that nothing more belongs to the stretch.
func (s *stretch) over() bool { return s.end != nil || s.cut || s.left }

// ending reports whether the end is known but for what is written last.
func (s *stretch) ending() bool {
	return s.stop != "" || s.leave != "" || s.failed != nil || s.mute
}

// rested reports whether the model has given its answer and nothing is under way.
func (s *stretch) rested() bool {
	if s.inRound || s.merging != nil || len(s.calls) == 0 {
		return false
	}
	for _, t := range s.tools {
		if !t.done {
			return false
		}
	}
	last := s.calls[len(s.calls)-1]
	return !last.empty() && len(last.requests) == 0
}

// unanswered reports whether the model has said nothing when it was asked last.
func (s *stretch) unanswered() bool {
	if len(s.calls) == 0 {
		return true
	}
	last := s.calls[len(s.calls)-1]
	return strings.TrimSpace(last.text) == "" && len(last.requests) == 0
}

// outcome says how it ended, once it is over or will not go on.
func (s *stretch) outcome(dead bool) outcome {
	switch {
	case s.end != nil:
		return *s.end
	case s.failed != nil:
		return *s.failed
	case s.rested(), s.mute:
		return outcome{at: s.last}
	}
	end := outcome{at: s.last, interrupted: true, err: "Interrupted"}
	if s.until.After(end.at) {
		end.at = s.until
	}
	switch {
	case s.left:
		end.err = "Interrupted: the session ended"
	case dead:
		end.err = "Interrupted: the process ended"
	}
	return end
}

// add takes a line of the stretch. What comes after its end was not waited for.
func (s *stretch) add(r *record) {
	if _, fails := r.data.(*sessionError); s.over() || s.mute && !fails {
		return
	}
	switch d := r.data.(type) {
	case *userMessage:
		s.asked(r, d)
	case *systemMessage:
		s.told(r, d)
	case *round:
		s.turned(r, d)
	case *usageRecord:
		s.addUsage(r, d)
	case *assistantMessage:
		s.addMessage(r, d)
	case *toolStart:
		s.called(r, d)
	case *toolEnd:
		s.answered(r, d)
	case *permission:
		s.decided(r, d)
	case *compacted:
		s.merge(r, d)
	case *sessionError:
		s.failed = &outcome{at: r.at, err: d.Message, class: d.Code}
		if d.Code == "" {
			s.failed.class = d.Type
		}
		if d.Message == "" {
			s.failed.err = "the turn failed"
		}
	case *aborted:
		s.abort(r, d)
	case *subagent:
		s.finished(r, d)
	}
}

// asked takes a prompt, or one that joins the turn while it is on.
func (s *stretch) asked(r *record, u *userMessage) {
	sent := u.Sent
	if sent == "" {
		sent = u.Content
	}
	s.interactions = append(s.interactions, u.Interaction)
	s.failed = nil
	if s.prompt == nil {
		s.prompt = &runtypes.Message{Role: "user", Content: u.parts(u.Content)}
	}
	s.say(r, runtypes.Message{Role: "user", Content: u.parts(sent)})
}

// assume takes the task for the prompt that an older log does not hold.
func (s *stretch) assume() {
	if s.prompt == nil && s.task != "" {
		s.prompt = &runtypes.Message{Role: "user", Content: s.task}
		s.entries = append(s.entries, entry{message: *s.prompt})
	}
}

// joins reports whether a prompt belongs to the turn that is on: the user steers it, or
// an agentStop hook made it go on.
func (s *stretch) joins(u *userMessage) bool {
	if s.blocked != "" && strings.TrimSpace(u.Content) == strings.TrimSpace(s.blocked) {
		s.blocked = ""
		return true
	}
	if u.Delivery == "steering" {
		return true
	}
	for _, id := range s.interactions {
		if id != "" && id == u.Interaction {
			return true
		}
	}
	return false
}

// told takes what the program says: the system prompt, which goes first, or a notice.
func (s *stretch) told(r *record, m *systemMessage) {
	if r.kind != "system.message" {
		notice := runtypes.Message{Role: "user", Content: m.Content}
		if len(s.entries) == 0 {
			s.prompt = &notice
		}
		s.say(r, notice)
		return
	}
	system := entry{message: runtypes.Message{Role: "system", Content: m.Content}}
	if n := len(s.entries); n == 0 || s.entries[n-1].call != nil || s.entries[n-1].replaced || s.entries[n-1].message.Role == "tool" {
		s.entries = append(s.entries, system)
	} else {
		s.entries = append(s.entries[:n-1:n-1], system, s.entries[n-1])
	}
	s.ready = r.at
}

// say adds a message to the conversation that no model made.
func (s *stretch) say(r *record, m runtypes.Message) {
	s.entries = append(s.entries, entry{message: m})
	s.ready, s.last = r.at, r.at
}

// turned takes the beginning or the end of a round: a model call and its tools.
func (s *stretch) turned(r *record, d *round) {
	s.settle()
	s.inRound = r.kind == "assistant.turn_start"
	if !s.inRound {
		s.last = r.at
		return
	}
	s.failed = nil
	s.ready = r.at
	s.begin(r, d.Model)
}

func (s *stretch) abort(r *record, d *aborted) {
	s.settle()
	s.end = &outcome{at: r.at, interrupted: true, err: "Interrupted by user"}
	if !strings.HasPrefix(d.Reason, "user_") && d.Reason != "" {
		s.end.err = "Interrupted: " + d.Reason
	}
}

// finished takes the end of a subagent.
func (s *stretch) finished(r *record, d *subagent) {
	if r.kind == "subagent.started" {
		return
	}
	s.settle()
	s.end = &outcome{at: r.at}
	switch {
	case d.Cancelled:
		s.end.interrupted, s.end.err = true, "Interrupted"
	case r.kind == "subagent.failed":
		s.end.err, s.end.class = d.Error, "failed"
		if d.Error == "" {
			s.end.err = "the subagent failed"
		}
	}
}

// hooked takes a hook of the root's own that is run at the end of a turn or of the
// session. The turn ends with its agentStop hook, unless that puts a prompt in its place.
func (s *stretch) hooked(r *record, h *hookRun) {
	if s.over() {
		return
	}
	switch starts := r.kind == "hook.start"; {
	case h.Type == agentStop && starts:
		s.stop = h.ID
	case h.Type == agentStop && s.stop != "" && h.ID == s.stop:
		s.stop = ""
		if s.blocked = h.blocks(); s.blocked == "" {
			s.settle()
			if s.end = s.failed; s.end != nil {
				return
			}
			if s.mute = s.unanswered(); !s.mute {
				s.end = &outcome{at: s.last}
			}
		}
	case h.Type == sessionEnd && starts:
		s.leave, s.until = h.ID, r.at
	case h.Type == sessionEnd && s.leave != "" && h.ID == s.leave && !s.mute:
		s.gone()
	}
}

// gone notes that the session ended.
func (s *stretch) gone() {
	if !s.over() {
		s.settle()
		s.left = true
	}
}

// cease ends what was about to end: what would say so has not come.
func (s *stretch) cease() {
	switch {
	case s.over():
	case s.failed == nil && s.stop != "":
		s.settle()
		s.end = &outcome{at: s.last}
	default:
		s.gone()
	}
}

// cutOff notes that something else began before this ended.
func (s *stretch) cutOff() {
	if !s.over() {
		s.settle()
		s.cut = true
	}
}

// settle marks everything that stands so far as final.
func (s *stretch) settle() {
	for i := len(s.calls) - 1; i >= 0 && !s.calls[i].settled; i-- {
		s.calls[i].settled = true
	}
	s.open = nil
}

// merge takes the beginning or the end of a compaction.
func (s *stretch) merge(r *record, d *compacted) {
	m := s.merging
	if m == nil {
		m = &compaction{index: len(s.merges), start: r.at, at: r.at}
		s.merges = append(s.merges, m)
		s.merging = m
	}
	m.what, m.at, s.last = *d, r.at, r.at
	if r.kind != "session.compaction_complete" {
		return
	}
	m.done, s.merging, s.ready = true, nil, r.at
	if d.Success {
		s.settle()
		s.entries = append(s.entries, entry{replaced: true}, entry{message: runtypes.Message{Role: "user", Content: d.Summary}})
	}
}

// answer is what the stretch said last.
func (s *stretch) answer() string {
	for i := len(s.calls) - 1; i >= 0; i-- {
		if text := s.calls[i].text; strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// parts is what a prompt holds beside its text.
func (u *userMessage) parts(text string) any {
	if len(u.Attachments) == 0 {
		return text
	}
	list := []runtypes.Part{{Type: "text", Text: text}}
	for _, a := range u.Attachments {
		switch {
		case a.Data != "" && strings.HasPrefix(a.MIME, "image/"):
			list = append(list, runtypes.Part{Type: "image", Base64: a.Data, MIMEType: a.MIME})
		case a.Path != "":
			list = append(list, runtypes.Part{Type: "text", Text: "[" + a.Type + " " + a.Path + "]"})
		case a.Name != "":
			list = append(list, runtypes.Part{Type: "text", Text: "[" + a.Type + " " + a.Name + "]"})
		}
	}
	return list
}
