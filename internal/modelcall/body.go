package modelcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/tracesmith/tracesmith/runtypes"
)

// errClosed says that the client closed a reply before its end.
var errClosed = errors.New("closed by the client")

// body is a reply's body as the client reads it.
type body struct {
	io.ReadCloser
	ctx    context.Context
	child  *runtypes.Child
	reply  Reply
	status int
	stream bool
	coded  string // Content-Encoding, which hides what is said
	limit  int    // bytes that are recorded

	mu     sync.Mutex // a client may close while it reads
	events decoder
	whole  []byte
	over   bool // larger than what is recorded
	done   bool
}

func watch(ctx context.Context, resp *http.Response, child *runtypes.Child, reply Reply, limit int) io.ReadCloser {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	coded := resp.Header.Get("Content-Encoding")
	if strings.EqualFold(coded, "identity") {
		coded = ""
	}
	return &body{
		ReadCloser: resp.Body, ctx: ctx, child: child, reply: reply, status: resp.StatusCode,
		stream: kind == "text/event-stream" && resp.StatusCode < 300, coded: coded,
		limit: limit, events: decoder{limit: limit},
	}
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > 0 && !b.done {
		b.guard(func() { b.take(p[:n]) })
	}
	if err != nil {
		b.guard(func() { b.finish(err) })
	}
	return n, err
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.guard(func() { b.finish(errClosed) })
	return err
}

// guard keeps a fault in the record from reaching the client.
func (b *body) guard(f func()) {
	defer func() {
		if recover() != nil && !b.done {
			b.done = true
			b.child.Metadata("outputs_missing", "the reply cannot be read").End(nil)
		}
	}()
	f()
}

// take looks at what the client is given.
func (b *body) take(p []byte) {
	switch {
	case b.coded != "":
	case b.stream:
		for data := range b.events.feed(p) {
			if b.reply.Event(data) {
				b.child.Token()
			}
		}
		if b.reply.Done() {
			b.finish(nil) // a client need not read on to the end
		}
	case b.over || len(b.whole)+len(p) > b.limit:
		b.over, b.whole = true, nil
	default:
		b.whole = append(b.whole, p...)
	}
}

// finish ends the call: cause is io.EOF at the body's end, nil if the reply says
// itself that it is complete, else why nobody reads on.
func (b *body) finish(cause error) {
	if b.done {
		return
	}
	b.done = true
	switch {
	case b.coded != "":
		b.child.Metadata("outputs_missing", "the reply is encoded: "+b.coded)
	case b.over:
		b.child.Metadata("outputs_missing", "the reply is too large to record")
	}
	if b.status >= 300 {
		b.child.Fail(&statusError{b.status, explain(b.whole)})
		return
	}
	complete := b.coded != "" || b.over
	if !b.stream && !complete && json.Valid(b.whole) {
		b.reply.Whole(b.whole)
		complete = true
	}
	result := b.reply.Result()
	for key, v := range result.Metadata {
		b.child.Metadata(key, v)
	}
	if result.Usage != nil {
		b.child.Usage(*result.Usage)
	}
	if len(result.Outputs) > 0 {
		b.child.Output(result.Outputs)
	}
	switch {
	case result.Failure != "":
		b.child.Fail(errors.New(result.Failure))
	case complete || b.reply.Done():
		b.child.End(nil)
	case errors.Is(cause, io.EOF):
		b.child.Fail(fmt.Errorf("the reply broke off: %w", io.ErrUnexpectedEOF))
	default:
		failed(b.ctx, b.child, cause)
	}
}

// failed ends a call that did not come to an answer.
func failed(ctx context.Context, child *runtypes.Child, cause error) {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		child.Interrupt(fmt.Sprint(context.Cause(ctx)))
	case ctx.Err() != nil:
		child.Fail(context.Cause(ctx)) // whoever closes the body does so for this
	case errors.Is(cause, errClosed):
		child.Interrupt(cause.Error())
	default:
		child.Fail(cause)
	}
}

// statusError is an answer that is an error.
type statusError struct {
	status  int
	explain string
}

func (e *statusError) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("%d %s", e.status, http.StatusText(e.status)))
	if e.explain != "" {
		text += ": " + e.explain
	}
	return text
}

// explain reads the type and message of an error's document.
func explain(body []byte) string {
	var doc struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &doc) != nil {
		return ""
	}
	return strings.Trim(doc.Error.Type+": "+doc.Error.Message, ": ")
}
