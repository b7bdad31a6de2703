package toy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Stream returns the model's next message, and hands its text to say as it comes.
// After an error the message is what had come.
func (m *Model) Stream(ctx context.Context, conversation []Message, say func(string)) (Message, Usage, error) {
	var used Usage
	resp, err := m.post(ctx, conversation, true)
	if err != nil {
		return Message{}, used, err
	}
	defer resp.Body.Close()
	reply := Message{Role: "assistant"}
	var arguments bytes.Buffer // of the tool call that is coming
	lines := bufio.NewScanner(io.LimitReader(resp.Body, maxReply))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Block Block `json:"content_block"`
			Delta struct {
				Text string
				JSON string `json:"partial_json"`
			}
			Message struct{ Usage Usage }
			Usage   struct {
				Output int64 `json:"output_tokens"`
			}
			Error struct{ Message string }
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return reply, used, fmt.Errorf("toy: stream: %w", err)
		}
		last := len(reply.Content) - 1
		switch e.Type {
		case "message_start":
			used = e.Message.Usage
		case "message_delta":
			used.Output = e.Usage.Output
		case "content_block_start":
			reply.Content = append(reply.Content, e.Block)
			arguments.Reset()
		case "content_block_delta":
			reply.Content[last].Text += e.Delta.Text
			arguments.WriteString(e.Delta.JSON)
			if e.Delta.Text != "" {
				say(e.Delta.Text)
			}
		case "content_block_stop":
			if arguments.Len() > 0 {
				reply.Content[last].Input = bytes.Clone(arguments.Bytes())
			}
		case "message_stop":
			return reply, used, nil
		case "error":
			return reply, used, fmt.Errorf("toy: stream: %s", e.Error.Message)
		}
	}
	return reply, used, fmt.Errorf("toy: stream: %w", errors.Join(lines.Err(), io.ErrUnexpectedEOF))
}
