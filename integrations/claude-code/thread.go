package claudecode

import (
	"encoding/json"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// thread is one turn's stretch of one transcript file: the main one, or a
// subagent's. It is rebuilt from the file whenever a new process takes over, so
// none of it is in the checkpoint.
type thread struct {
	next    int64 // where to go on reading
	over    bool  // the next turn's prompt stands behind it, or a message after the end
	entries []entry

	messages map[string]*reply // by message id
	results  map[string]*result
	order    []*reply
	requests []request // not yet answered, oldest first
	asked    bool      // this version notes its requests
	retries  []retry

	marker    *line // the last interrupt marker
	summaries int   // stop_hook_summary lines
	blocked   bool  // the last of them let the turn go on
	feedback  bool  // a Stop hook's feedback stands before the next summary
	closed    bool  // a line that only a finished turn has
	printed   *line // what answers a prompt that no model is asked
	garbled   bool  // a line could not be read
	last      time.Time
	version   string
	compacts  []compacted
	rests     int            // replies that ended the thread, unless something let it go on
	notified  []notification // of background tasks, until they are heeded
}

// entry is one thing of the conversation, in file order: user, reply or result.
type entry struct {
	uuid   string // of its first line
	user   *line
	reply  *reply
	result *result
	kept   int // of a compaction's summary: the first entry that it leaves as it was
}

// result is a tool's answer.
type result struct {
	id       string
	at       time.Time
	isError  bool
	content  json.RawMessage
	denial   string
	decision *decision
	rejected bool     // the user stopped the tool or refused it
	launched launched // what it names
	marked   bool     // an interrupt marker follows at once
	final    bool     // a later model call stands behind it
}

type request struct {
	at     time.Time
	id     string
	params *requestParams
}

func newThread(from int64) *thread {
	return &thread{next: from, messages: map[string]*reply{}, results: map[string]*result{}}
}

// grow reads what the file has gained. prompt is the turn's prompt id; another
// turn's prompt ends the thread. In a subagent's file, where prompt is "", a message
// that it is sent after its end does.
func (t *thread) grow(src integrations.Source, path, prompt string) error {
	if t.over {
		return nil
	}
	for raw, err := range src.Lines(path, t.next) {
		if err != nil {
			return err
		}
		l, ok := parseLine(raw.Data)
		if ok {
			if prompt != "" && l.startsTurn() && l.PromptID != prompt {
				t.over = true
				t.settle()
				return nil
			}
			if prompt == "" && l.resumes() {
				if _, ended := t.outcome(); ended {
					t.over = true
					t.settle()
					return nil
				}
			}
			t.add(&l)
		} else if relevant(raw.Data) && !json.Valid(raw.Data) {
			t.garbled = true
		}
		t.next = raw.Next
	}
	return nil
}

func (t *thread) add(l *line) {
	if l.copied() || l.mends() {
		return
	}
	if l.Version != "" {
		t.version = l.Version
	}
	if l.Timestamp.After(t.last) && l.Type != "attachment" {
		t.last = l.Timestamp
	}
	if l.notifies() {
		t.notified = append(t.notified, notification{task: l.task(), at: l.Timestamp})
	}
	switch l.Type {
	case "api-request":
		t.settle()
		t.asked = true
		t.requests = append(t.requests, request{at: l.Timestamp, id: l.ID, params: l.Params})
	case "assistant":
		t.addAssistant(l)
	case "user":
		t.addUser(l)
	case "attachment": // a prompt or a notification that joined the running turn
		t.entries = append(t.entries, entry{uuid: l.UUID, user: l})
	case "system":
		t.addSystem(l)
	}
}

// begun is when the thread begins; zero if it is empty.
func (t *thread) begun() time.Time {
	if len(t.entries) == 0 {
		return time.Time{}
	}
	switch e := t.entries[0]; {
	case e.user != nil:
		return e.user.Timestamp
	case e.result != nil:
		return e.result.at
	default:
		return e.reply.start
	}
}

// previous is the time of the last thing said to the model.
func (t *thread) previous() time.Time {
	if len(t.entries) == 0 {
		return time.Time{}
	}
	switch e := t.entries[len(t.entries)-1]; {
	case e.user != nil:
		return e.user.Timestamp
	case e.result != nil:
		return e.result.at
	default:
		return e.reply.end
	}
}

func (t *thread) addUser(l *line) {
	if l.IsCompactSummary {
		t.addSummary(l)
		return
	}
	blocks := l.Message.blocks()
	answered := false
	for _, b := range blocks {
		if b.Type != "tool_result" {
			continue
		}
		answered = true
		if t.results[b.ToolUseID] != nil {
			continue // the same answer written twice
		}
		res := &result{
			id: b.ToolUseID, at: l.Timestamp, isError: b.IsError, content: b.Content,
			denial: l.ToolDenialKind, decision: l.Decision,
			rejected: string(l.ToolUseResult) == `"User rejected tool use"`,
			launched: launchedBy(l.ToolUseResult),
		}
		t.results[res.id] = res
		t.entries = append(t.entries, entry{uuid: l.UUID, result: res})
	}
	switch {
	case answered:
	case len(blocks) > 0 && blocks[0].Type == "text" && isInterruptMarker(blocks[0].Text):
		t.marker = l
		t.markResults()
	case l.IsMeta && l.RowSource == "hook":
		t.feedback = true
		t.entries = append(t.entries, entry{uuid: l.UUID, user: l})
	case !l.startsTurn() && len(blocks) > 0 && blocks[0].Type == "text" && isLocalCommand(blocks[0].Text):
	default:
		t.entries = append(t.entries, entry{uuid: l.UUID, user: l})
	}
}

// markResults notes that the tools answered since the last model message were
// stopped by the interrupt.
func (t *thread) markResults() {
	for i := len(t.entries) - 1; i >= 0 && t.entries[i].result != nil; i-- {
		if t.entries[i].result.rejected {
			t.entries[i].result.marked = true
		}
	}
}

func (t *thread) addSystem(l *line) {
	switch l.Subtype {
	case "api_error":
		t.retries = append(t.retries, retry{
			at: l.Timestamp, attempt: l.RetryAttempt, wait: l.RetryInMs, err: apiErrorText(l.Error),
		})
	case "stop_hook_summary":
		t.summaries++
		t.blocked = t.feedback
		t.feedback = false
	case "turn_duration":
		t.closed = true
	case "informational":
		// "A hook blocked the turn from ending N consecutive times, overriding":
		// the program's last word on a turn whose Stop hooks block for ever.
		if t.blocked {
			t.closed = true
		}
	case "local_command":
		if len(t.entries) == 1 && t.entries[0].user != nil && t.entries[0].user.forksSkill() {
			t.printed = l
		}
	case "compact_boundary":
		t.compacts = append(t.compacts, compacted{boundary: l})
	}
}

// settle marks everything that stands so far as final: a later model call follows.
func (t *thread) settle() {
	for i := len(t.order) - 1; i >= 0 && !t.order[i].final; i-- {
		t.order[i].final = true
	}
	for i := len(t.entries) - 1; i >= 0; i-- {
		if res := t.entries[i].result; res != nil {
			if res.final {
				break
			}
			res.final = true
		}
	}
}

// failedBefore is the last failed call in the thread that a call repeats, name and
// input alike; "" if there is none.
func (t *thread) failedBefore(call block) string {
	found := ""
	for _, reply := range t.order {
		for _, b := range reply.blocks {
			if b.ID == call.ID {
				return found
			}
			if res := t.results[b.ID]; b.Type == "tool_use" && b.Name == call.Name && res != nil && res.isError &&
				agentkit.HashJSON(b.Input) == agentkit.HashJSON(call.Input) {
				found = b.ID
			}
		}
	}
	return found
}

// calls reports whether a reply of the thread calls the tool.
func (t *thread) calls(id string) bool {
	for _, reply := range t.order {
		if _, ok := reply.asked[id]; ok {
			return true
		}
	}
	return false
}

// lastReply is the last model message of the thread.
func (t *thread) lastReply() *reply {
	if len(t.order) == 0 {
		return nil
	}
	return t.order[len(t.order)-1]
}

// abandon notes that the last reply of a thread that was cut off never came to its
// end. The program marks a reply so when a block of it was cut; one that was cut
// between two blocks lacks the reason it stopped, which every version that notes
// its requests writes on the last line.
func (t *thread) abandon() {
	if last := t.lastReply(); last != nil && t.asked && last.stop == "" && last.err == nil {
		last.aborted = true
	}
}

// says reports whether the thread holds a reply with that text: the one a Stop
// hook announced.
func (t *thread) says(textHash string) bool {
	for i := len(t.order) - 1; i >= 0; i-- {
		if agentkit.HashText(t.order[i].text()) == textHash || agentkit.HashText(t.order[i].lastText()) == textHash {
			return true
		}
	}
	return false
}
