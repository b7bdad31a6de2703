package deepagentscode

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

// record is a line of the transcript.
type record struct {
	Role    string          `json:"role"`
	ID      string          `json:"record_id"`
	Content json.RawMessage `json:"content"`
	Agent   string          `json:"agent_id"`
}

// records visits the lines of a transcript, each with the number of prompts up to it.
func records(src integrations.Source, path string, visit func(rec *record, prompts int)) error {
	prompts := 0
	for line, err := range src.Lines(path, 0) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return unread(err)
		}
		var rec record
		if json.Unmarshal(line.Data, &rec) != nil || rec.Agent != "" {
			continue
		}
		if rec.Role == "user" {
			prompts++
		}
		visit(&rec, prompts)
	}
	return nil
}

// transcript adds the answers that the transcript holds: the texts, and when the model
// was asked. They follow the turn's own prompt, the first of its words that no turn
// before has taken, or the next one: the transcript hides what looks like a secret.
func (s *story) transcript(src integrations.Source, r *reducer, t *turn, prompt string) error {
	if t.Transcript == "" {
		return nil
	}
	mine := 0
	err := records(src, t.Transcript, func(rec *record, prompts int) {
		if rec.Role == "user" && prompts > r.Prompts && mine == 0 && words(rec.Content) == prompt {
			mine = prompts
		}
	})
	if mine == 0 {
		mine = r.Prompts + 1
	}
	r.Prompts = mine
	own := s.own()
	var bare *note // an answer without a time
	err = errors.Join(err, records(src, t.Transcript, func(rec *record, prompts int) {
		if prompts != mine {
			return
		}
		n := &note{Type: "ai", ID: rec.ID, Content: rec.Content}
		asked := timeOf(strings.TrimPrefix(rec.ID, runPrefix))
		switch {
		case rec.Role == "user":
			own.talk = append(own.talk, runtypes.Message{Role: "user", Content: words(rec.Content)})
		case rec.Role != "assistant":
		case asked.IsZero():
			bare = n
		default:
			bare = nil
			own.say(n, asked)
		}
	}))
	if bare != nil {
		own.say(bare, own.ready(t.Start))
	}
	for i := 1; i < len(own.calls); i++ {
		own.calls[i-1].to = own.calls[i].from // nothing tells better: the tools' time is in it
	}
	return err
}

func (one *scope) say(n *note, asked time.Time) {
	one.calls = append(one.calls, &call{id: n.ID, note: n, from: asked, asked: len(one.talk)})
	one.talk = append(one.talk, n.answer())
}

// ready is when the last of the tools had come back; start if there was none.
func (one *scope) ready(start time.Time) time.Time {
	for _, t := range one.tools {
		if t.to.After(start) {
			start = t.to
		}
	}
	return start
}
