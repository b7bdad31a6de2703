package agentkit

import (
	"encoding/json"
	"fmt"

	"github.com/tracesmith/tracesmith/runtypes"
)

// MaxInputs bounds the bytes of conversation that one model call repeats as its
// inputs. Older messages are left out, with a marker in their place.
const MaxInputs = 1 << 20

// Bounded keeps the first message, which is the prompt, and as many of the last
// ones as fit.
func Bounded(list []runtypes.Message) []runtypes.Message {
	size := 0
	for i := len(list) - 1; i > 0; i-- {
		size += SizeOf(list[i])
		if size > MaxInputs && i < len(list)-1 {
			kept := append([]runtypes.Message{list[0], {
				Role: "system", Content: fmt.Sprintf("[%d earlier messages of this turn left out]", i),
			}}, list[i+1:]...)
			return kept
		}
	}
	return list
}

// SizeOf is about how many bytes a message takes.
func SizeOf(m runtypes.Message) int {
	switch c := m.Content.(type) {
	case string:
		return len(c)
	case json.RawMessage:
		return len(c)
	case []runtypes.Part:
		n := 0
		for _, p := range c {
			n += len(p.Text) + len(p.Args) + len(p.Base64)
		}
		return n
	}
	return 0
}
