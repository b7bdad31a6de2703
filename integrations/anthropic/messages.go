package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/tracesmith/tracesmith/internal/modelcall"
)

// params are the parameters that stand in a run. What is left out may name a user
// or hold content.
var params = []string{
	"max_tokens", "temperature", "top_p", "top_k", "stop_sequences", "stream",
	"thinking", "output_config", "tool_choice", "service_tier", "speed",
}

// read takes a request for a message apart.
func read(path string, body []byte) (modelcall.Call, bool) {
	if !strings.HasSuffix(path, "/v1/messages") {
		return modelcall.Call{}, false
	}
	request := modelcall.Object(body)
	messages := modelcall.List(request["messages"])
	if system := request["system"]; len(system) > 0 && string(system) != "null" {
		messages = append([]json.RawMessage{modelcall.Members("role", "system", "content", system)}, messages...)
	}
	return modelcall.Call{
		Model:  modelcall.String(request["model"]),
		Inputs: modelcall.Inputs(messages, request["tools"]),
		Params: modelcall.Pick(request, params...),
		Reply:  &reply{},
	}, true
}
