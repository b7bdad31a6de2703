package modelcall

import (
	"encoding/json"
	"net/http"

	"github.com/tracesmith/tracesmith/runtypes"
)

// maxBody bounds what is read of a body for the record, in bytes. What goes on to
// the client has no bound.
const maxBody = 32 << 20

// API is a provider's wire format.
type API struct {
	Provider string // ls_provider
	MaxBody  int    // bytes of a body that are recorded. 0: 32 MiB
	// Read takes a request apart. It is false for a path that is no model call, and
	// gets no body where that is too large.
	Read func(path string, body []byte) (Call, bool)
}

// Call is what a request asks for.
type Call struct {
	Model    string
	Inputs   json.RawMessage // messages, and tools
	Params   map[string]any  // allow-listed
	Metadata map[string]any
	Reply    Reply
}

// Reply gathers an answer as it comes.
type Reply interface {
	// Whole takes an answer that came in one piece.
	Whole(body []byte)
	// Event takes the data of one event of a stream. It is true if that held a piece
	// of what the model says.
	Event(data []byte) bool
	// Done reports whether nothing more will come.
	Done() bool
	// Result is what is known so far.
	Result() Result
}

// Result is an answer, whole or in part.
type Result struct {
	Outputs  json.RawMessage
	Usage    *runtypes.Usage
	Metadata map[string]any
	Failure  string // what the provider says went wrong
}

// Do sends a request by next and records it.
func (a API) Do(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	turn := runtypes.FromContext(req.Context())
	if turn == nil || req.Method != http.MethodPost || req.Body == nil {
		return next(req)
	}
	if _, ok := a.read(req.URL.Path, nil); !ok {
		return next(req)
	}
	limit := a.MaxBody
	if limit == 0 {
		limit = maxBody
	}
	req, body, whole := peek(req, limit)
	call, _ := a.read(req.URL.Path, body)
	child := turn.LLM(call.Model, call.Inputs)
	child.Model(runtypes.Model{Provider: a.Provider, InvocationParams: call.Params})
	for key, v := range call.Metadata {
		child.Metadata(key, v)
	}
	if !whole {
		child.Metadata("inputs_missing", "the request is too large to record")
	}
	resp, err := next(req)
	if err != nil {
		failed(req.Context(), child, err)
		return resp, err
	}
	resp.Body = watch(req.Context(), resp, child, call.Reply, limit)
	return resp, nil
}

// read is Read, for a body that may be anything: a panic says nothing about the
// call but that it is one.
func (a API) read(path string, body []byte) (call Call, ok bool) {
	defer func() {
		if recover() != nil {
			call, ok = Call{}, true
		}
		if ok && call.Reply == nil {
			call.Reply = unknown{}
		}
	}()
	return a.Read(path, body)
}

// unknown is the reply to a request that nobody can read.
type unknown struct{}

func (unknown) Whole([]byte)      {}
func (unknown) Event([]byte) bool { return true }
func (unknown) Done() bool        { return false }
func (unknown) Result() Result    { return Result{} }
