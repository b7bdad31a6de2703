package modelserver

import (
	"encoding/json"
	"net/http"
)

// Scenario is what the model does after a prompt that names it: one step for
// each request. The last step repeats, should the agent ask for more.
type Scenario []Step

// Step is the answer to one request: a reply, or a failure.
type Step struct {
	Blocks     []Block
	StopReason string // default: tool_use if a block asks for a tool, else end_turn
	Usage      Usage

	Hold     bool     // stream the blocks and then nothing more until the client leaves
	BreakOff bool     // stream the blocks and then an overloaded error in place of an end
	Failure  *Failure // answer with this in place of a reply
}

// Block is a part of a reply: exactly one of text, thinking and tool use.
type Block struct {
	Text     string
	Thinking string
	Tool     string          // the name of the tool to call
	Input    json.RawMessage // its arguments
}

// Usage counts tokens the way Anthropic does: Input is what no cache held.
type Usage struct {
	Input, Output    int
	CacheRead        int
	Write5m, Write1h int // written to a cache of five minutes, of one hour
}

// Failure is an error in the API's own form.
type Failure struct {
	Status  int
	Type    string // such as overloaded_error
	Message string
	Header  http.Header
	Times   int // how many attempts fail before the reply is given; 0: all
}

func (s Scenario) step(n int) Step { return s[min(n, len(s)-1)] }

func (s Step) stopReason() string {
	if s.StopReason != "" {
		return s.StopReason
	}
	for _, b := range s.Blocks {
		if b.Tool != "" {
			return "tool_use"
		}
	}
	return "end_turn"
}

func say(text string) Block { return Block{Text: text} }

func think(text string) Block { return Block{Thinking: text} }

// call asks for a tool; the arguments are the script's own and always encode.
func call(tool string, args map[string]any) Block {
	input, err := json.Marshal(args)
	if err != nil {
		panic("modelserver: a script's arguments: " + err.Error())
	}
	return Block{Tool: tool, Input: input}
}

func fails(status int, kind, message string) Scenario {
	return Scenario{{Failure: &Failure{Status: status, Type: kind, Message: message}}}
}
