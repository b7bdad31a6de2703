package claudecode

import (
	"slices"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// turn is one open turn of the main thread.
type turn struct {
	Prompt string    `json:"prompt"` // native id
	Number int       `json:"number,omitempty"`
	First  time.Time `json:"first,omitzero"` // the first hook heard of it
	At     time.Time `json:"at,omitzero"`    // UserPromptSubmit; zero when that hook was lost
	CWD    string    `json:"cwd,omitempty"`
	Branch string    `json:"branch,omitempty"`
	SHA    string    `json:"sha,omitempty"`
	Mode   string    `json:"mode,omitempty"`
	Text   string    `json:"text,omitempty"` // the prompt, until its line is on disk

	Line    int64     `json:"line"` // offset of the prompt's line, -1: not found
	Start   time.Time `json:"start,omitzero"`
	Version string    `json:"version,omitempty"`
	Origin  string    `json:"origin,omitempty"`
	Surface string    `json:"surface,omitempty"`
	Parent  string    `json:"parent,omitempty"` // dotted order of the run the turn hangs under
	Heads   []string  `json:"heads,omitempty"`  // commits that HEAD moved to since the turn began

	Posted    bool     `json:"posted,omitempty"`
	Replies   int      `json:"replies,omitempty"`   // model messages emitted, in order
	Compacted int      `json:"compacted,omitempty"` // compactions emitted
	Done      []string `json:"done,omitempty"`      // tool calls emitted, by short name

	Active     time.Time `json:"active,omitzero"` // the last hook heard of it
	Stops      int       `json:"stops,omitempty"`
	StopAt     time.Time `json:"stop_at,omitzero"`
	StopText   string    `json:"stop_text,omitempty"`
	LastHash   string    `json:"last_hash,omitempty"`
	Failed     string    `json:"failed,omitempty"` // StopFailure's class
	Superseded bool      `json:"superseded,omitempty"`
	Ended      bool      `json:"ended,omitempty"` // the session ended over it
	EndAt      time.Time `json:"end_at,omitzero"`
	Reason     string    `json:"reason,omitempty"`
	Idle       bool      `json:"idle,omitempty"`
	Dead       bool      `json:"dead,omitempty"`
	HookOnly   bool      `json:"hook_only,omitempty"` // there is no transcript
	Blocked    bool      `json:"blocked,omitempty"`   // another hook refused the prompt
	BlockedAt  time.Time `json:"blocked_at,omitzero"`
}

func (t *turn) located() bool { return t.Line >= 0 }

// begin takes the prompt's own event.
func (t *turn) begin(e integrations.Event, d *data) {
	t.At, t.Text = e.At, d.Text
	t.place(e, d)
}

// place notes where the turn happens: the snapshot of its first event.
func (t *turn) place(e integrations.Event, d *data) {
	t.CWD = e.CWD
	t.Branch, t.SHA = e.Head.Branch, e.Head.SHA
	t.Version, t.Surface, t.Parent = d.Version, d.Entrypoint, d.Parent
	if d.Mode != "" {
		t.Mode = d.Mode
	}
}

// moved notes that HEAD stands elsewhere than when the turn began.
func (t *turn) moved(sha string) {
	if sha == "" || sha == t.SHA || t.SHA == "" || slices.Contains(t.Heads, sha) || len(t.Heads) >= 32 {
		return
	}
	t.Heads = append(t.Heads, sha)
}

// short names a tool call in the checkpoint: ids are long and a turn has many.
func short(id string) string {
	if len(id) <= 12 {
		return id
	}
	return id[len(id)-12:]
}

func (t *turn) has(id string) bool {
	for _, done := range t.Done {
		if done == short(id) {
			return true
		}
	}
	return false
}

// over reports whether there is evidence that the turn has ended, and that all
// which belongs to it is visible. Between hooks (hard) the transcript alone is
// evidence too; while the hooks of a pass are still being heard it may be ahead.
func (t *turn) over(r *reducer, th *thread, hard bool) bool {
	reply := th.lastReply()
	switch {
	case t.Dead:
		return true
	case t.Blocked && !t.located():
		return t.Ended || t.Superseded || hard
	case t.Idle:
		return true
	case th.over && (hard || t.Superseded):
		return true
	case t.HookOnly:
		return t.Stops > 0 || t.Failed != "" || t.Ended || t.Superseded
	case th.marker != nil && !th.markerStale() && (hard || t.Ended || t.Superseded):
		return true
	case th.printed != nil && hard:
		return true
	case t.Failed != "":
		return reply != nil && reply.err != nil
	case t.Stops > 0 && th.summaries >= t.Stops && (!th.blocked || th.closed):
		return hard || th.summaries == t.Stops
	case t.Stops > 0 && hard && th.closed:
		return true
	case t.Ended && t.Stops > 0:
		return t.LastHash == "" || th.says(t.LastHash)
	case t.Ended:
		return reply != nil && reply.err != nil
	case hard && reply != nil && reply.err != nil && th.closed:
		return true // StopFailure never got as far as the journal
	}
	return false
}

// outcome says how a turn or a subagent ended.
type outcome struct {
	at          time.Time
	err         string
	interrupted bool
}

// outcome reads the end of a turn that is over. The transcript's own words count
// more than which event closed it: an interrupt's marker, then the line of a failed
// call, then a finished answer.
func (t *turn) outcome(th *thread) outcome {
	o, ended := th.outcome()
	switch {
	case ended:
	case t.Blocked && !t.located():
		return outcome{at: t.BlockedAt, err: "Prompt blocked by a hook", interrupted: true}
	case t.Failed != "":
		o.err = t.Failed
		if t.StopText != "" {
			o.err = t.StopText
		}
	case t.Stops > 0, th.summaries > 0 && !th.blocked, th.closed:
	default:
		return t.cut(th)
	}
	if o.at.IsZero() {
		o.at = t.StopAt
	}
	if o.at.IsZero() {
		o.at = t.Active
	}
	return o
}

// cut is the outcome of a turn that nothing ended: it stopped at the last sign of
// life, not when somebody noticed.
func (t *turn) cut(th *thread) outcome {
	o := outcome{at: th.last, interrupted: true, err: "Interrupted"}
	if t.Active.After(o.at) {
		o.at = t.Active
	}
	switch {
	case t.Ended:
		o.err = "Interrupted: the session ended"
		if t.EndAt.After(o.at) {
			o.at = t.EndAt
		}
	case t.Dead:
		o.err = "Interrupted: the process ended"
	}
	return o
}

// outcome reads how a thread ended off its lines; false if they do not say.
func (t *thread) outcome() (outcome, bool) {
	o := outcome{}
	for _, e := range t.entries {
		at := time.Time{}
		switch {
		case e.reply != nil:
			at = e.reply.end
		case e.result != nil:
			at = e.result.at
		}
		if at.After(o.at) {
			o.at = at
		}
	}
	last := t.lastReply()
	switch {
	case t.marker != nil && !t.markerStale():
		return outcome{at: t.marker.Timestamp, err: "Interrupted by user", interrupted: true}, true
	case last == nil && t.printed != nil:
		return outcome{at: t.printed.Timestamp}, true
	case last == nil:
		return o, false
	case last.err != nil:
		o.err = last.text()
		return o, true
	case last.aborted:
		return outcome{at: last.end, err: "Interrupted by user", interrupted: true}, true
	case ends(last.stop):
		return o, true
	}
	return o, false
}

// markerStale reports whether the model spoke again after the marker.
func (t *thread) markerStale() bool {
	last := t.lastReply()
	return last != nil && last.start.After(t.marker.Timestamp)
}

// finish completes the root of a turn that is over.
func (t *turn) finish(root *runtypes.Run, th *thread, end outcome) *runtypes.Run {
	if text := t.answer(th); text != "" {
		root.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: text})
	}
	switch {
	case end.interrupted:
		return runtypes.Interrupt(root, end.at, end.err)
	default:
		root.Error = end.err
		return runtypes.Finish(root, end.at)
	}
}

// answer is what the turn said last, the partial text of an interrupted reply
// included.
func (t *turn) answer(th *thread) string {
	for i := len(th.order) - 1; i >= 0; i-- {
		if th.order[i].err != nil {
			continue
		}
		if text := strings.TrimSpace(th.order[i].text()); text != "" {
			return text
		}
	}
	switch {
	case t.Failed != "":
		return ""
	case th.printed != nil:
		return th.printed.printed()
	}
	return t.StopText
}
