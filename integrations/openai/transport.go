package openai

import (
	"net/http"
	"strings"

	"github.com/tracesmith/tracesmith/internal/modelcall"
)

// Transport is an http.RoundTripper that records calls of both APIs. The zero
// value works. It is safe for concurrent use if Base is.
type Transport struct {
	Base     http.RoundTripper // sends the requests. Nil: http.DefaultTransport
	Provider string            // whose price list holds. Empty: azure on Azure's hosts, else openai
}

// RoundTrip sends a request and records it.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	return t.Middleware(req, base.RoundTrip)
}

// Middleware is for openai-go's option.WithMiddleware; Base is not used.
func (t *Transport) Middleware(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	provider := t.Provider
	switch {
	case provider != "":
	case strings.HasSuffix(req.URL.Hostname(), ".openai.azure.com"):
		provider = "azure"
	default:
		provider = "openai"
	}
	return modelcall.API{Provider: provider, Read: read}.Do(req, next)
}

// Middleware records a call. It is for openai-go's option.WithMiddleware.
func Middleware(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	return new(Transport).Middleware(req, next)
}

// params are the parameters that stand in a run. What is left out may name a user
// or hold content.
var params = []string{
	"max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "top_p", "n", "seed", "stop", "stream",
	"frequency_penalty", "presence_penalty", "logprobs", "top_logprobs", "reasoning", "reasoning_effort", "verbosity",
	"tool_choice", "parallel_tool_calls", "max_tool_calls", "service_tier", "truncation", "store", "background",
}

// read takes a request of either API apart.
func read(path string, body []byte) (modelcall.Call, bool) {
	request := modelcall.Object(body)
	call := modelcall.Call{
		Model:  modelcall.String(request["model"]),
		Params: modelcall.Pick(request, params...),
	}
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		call.Inputs = modelcall.Inputs(modelcall.List(request["messages"]), request["tools"])
		call.Reply = &chat{}
	case strings.HasSuffix(path, "/responses"):
		call.Inputs = modelcall.Inputs(inputMessages(request), request["tools"])
		call.Reply = &response{}
		if id := modelcall.String(request["previous_response_id"]); id != "" {
			call.Metadata = map[string]any{"previous_response_id": id}
		}
	default:
		return modelcall.Call{}, false
	}
	return call, true
}
