package claudecode

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// locate finds the prompt's line. Copied history carries the new prompt's id too:
// it is older than the fork, and copied replies follow it.
func (r *reducer) locate(src integrations.Source, t *turn) error {
	if t.located() || t.HookOnly || r.Transcript == "" {
		return nil
	}
	var found *line
	var at int64
	var command *int64 // where the line before is a shell command
	earlier := 0
	for raw, err := range src.Lines(r.Transcript, r.From) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("claudecode: transcript: %w", err)
		}
		l, ok := parseLine(raw.Data)
		if !ok {
			continue
		}
		switch {
		case l.Type == "assistant" && l.copied():
			found, earlier = nil, 0
		case l.blocksPrompt() && found == nil && !t.At.IsZero() && !l.Timestamp.Before(t.At.Add(-time.Second)):
			t.Blocked, t.BlockedAt = true, l.Timestamp
			if t.Text == "" {
				t.Text = l.refusedPrompt()
			}
		case !l.startsTurn():
		case l.PromptID == t.Prompt:
			if found == nil && !(r.Forked && l.Timestamp.Before(r.Started)) {
				found, at = &l, raw.Offset
				if command != nil { // the prompt's line is its output
					at = *command
				}
			}
		case found != nil:
			r.locatedAt(t, found, at, earlier)
			return nil
		default:
			earlier++
		}
		command = nil
		if l.PromptID == t.Prompt && l.typedCommand() {
			command = &raw.Offset
		}
	}
	if found != nil {
		r.locatedAt(t, found, at, earlier)
	}
	return nil
}

// locatedAt takes over the prompt's line. earlier prompts in a session seen for the
// first time were turns too: numbers count the thread's turns, not ours.
func (r *reducer) locatedAt(t *turn, l *line, at int64, earlier int) {
	if r.Count == 0 && !r.Forked {
		r.Count = earlier
	}
	r.number(t)
	t.Line, t.Start = at, l.Timestamp
	t.Version, t.Origin, t.Surface = l.Version, l.TurnOrigin, l.Entrypoint
	if l.PermissionMode != "" {
		t.Mode = l.PermissionMode
	}
	if t.Branch == "" && l.GitBranch != "HEAD" {
		t.Branch = l.GitBranch
	}
	if t.CWD == "" {
		t.CWD = l.CWD
	}
	if t.At.IsZero() && (l.queued() || l.shellOutput()) {
		t.At = l.Timestamp // its hook named another turn, or there is none
	}
	t.Text = "" // the line has it
}

func (r *reducer) number(t *turn) {
	if t.Number == 0 {
		r.Count++
		t.Number = r.Count
	}
}

// mainThread returns the turn's stretch of the main transcript, as far as it is
// visible.
func (r *reducer) mainThread(src integrations.Source, t *turn) (*thread, error) {
	key := "turn " + t.Prompt
	th := r.threads[key]
	if th == nil {
		th = newThread(t.Line)
		if t.located() {
			r.threads[key] = th
		}
	}
	if !t.located() {
		return th, nil
	}
	err := th.grow(src, r.Transcript, t.Prompt)
	r.heed(th)
	if th.summaries > 0 {
		r.Summaries = true
	}
	if errors.Is(err, fs.ErrNotExist) {
		return th, nil // it vanished: what was seen is built
	}
	if err != nil {
		return th, fmt.Errorf("claudecode: transcript: %w", err)
	}
	return th, nil
}

// waits reports whether the turn's end is known but not yet what the agent writes
// last. A turn whose answer is there and that only lacks the note of its Stop hooks
// does not wait: one of them may still run, and may let the turn go on.
func (r *reducer) waits(t *turn) bool {
	switch {
	case t.Ended, t.Superseded, t.Failed != "":
		return true
	case t.Stops == 0:
		return false
	}
	th := r.threads["turn "+t.Prompt]
	if th == nil {
		return true
	}
	if th.blocked && th.summaries >= t.Stops {
		return false
	}
	return !r.writesSummaries(th) || !th.says(t.LastHash)
}

// writesSummaries reports whether this version notes the end of its Stop hooks.
func (r *reducer) writesSummaries(th *thread) bool {
	return r.Summaries || agentkit.VersionAtLeast(th.version, 2, 1, 332)
}
