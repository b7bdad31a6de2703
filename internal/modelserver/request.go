package modelserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Request is one call for a reply, as the server understood it.
type Request struct {
	At       time.Time
	Session  string // the agent's own session id, where it sends one
	Scenario string
	Step     int // replies the conversation already held since the scenario was named
	Model    string
	Stream   bool
	Messages int
	Tools    []string

	MessageID string // of the reply; empty if the answer was a failure
	Usage     Usage  // that the reply carried
	Status    int    // of the answer
	Cut       bool   // the client left, or the script broke off, before the reply was whole
}

// body is what the server reads of a Messages request.
type body struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	Stream    bool      `json:"stream"`
	Messages  []message `json:"messages"`
	Tools     []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// content is the text of a message. On the wire it is a string or a list of
// blocks, of which only those of type text are the user's words.
type content string

func (c *content) UnmarshalJSON(raw []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"`)) {
		return json.Unmarshal(raw, (*string)(c))
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return err
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	*c = content(strings.Join(texts, "\n"))
	return nil
}

// decode reads a request and refuses what the API refuses at the door.
func decode(raw []byte) (*body, error) {
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fmt.Errorf("the request body is not valid JSON: %w", err)
	}
	switch {
	case b.Model == "":
		return nil, errors.New("model: field required")
	case b.MaxTokens < 1:
		return nil, errors.New("max_tokens: must be at least 1")
	case len(b.Messages) == 0:
		return nil, errors.New("messages: at least one message is required")
	}
	for i, m := range b.Messages {
		if m.Role != "user" && m.Role != "assistant" && m.Role != "system" {
			return nil, fmt.Errorf("messages.%d.role: unexpected value %q", i, m.Role)
		}
	}
	return &b, nil
}

var (
	tag        = regexp.MustCompile(`SCENARIO:([\w-]+)`)
	compaction = regexp.MustCompile(`Your task is to create a detailed summary|CRITICAL: Respond with TEXT ONLY`)
)

// place finds where in which scenario the conversation stands. A background
// task's report begins a scenario of its own, unless the one before it still
// has replies to give: then it landed in the middle of that turn.
func (b *body) place(known map[string]Scenario) (name string, step int) {
	replies, reported := 0, -1
	for i := len(b.Messages) - 1; i >= 0; i-- {
		m := b.Messages[i]
		if m.Role == "assistant" {
			replies++
			continue
		}
		text := string(m.Content)
		if compaction.MatchString(text) && replies == 0 {
			return Summary, 0
		}
		if reported < 0 && strings.Contains(text, "<task-notification>") {
			reported = replies
			continue
		}
		tags := tag.FindAllStringSubmatch(text, -1)
		if len(tags) == 0 {
			continue
		}
		name = tags[len(tags)-1][1]
		if reported >= 0 && replies-reported >= len(known[name]) {
			return notification, reported
		}
		return name, replies
	}
	if reported >= 0 {
		return notification, reported
	}
	return unnamed, 0
}
