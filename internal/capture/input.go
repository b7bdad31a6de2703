package capture

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/tracesmith/tracesmith/internal/journal"
)

// checked bounds the input that is looked through for being JSON. Of a longer one
// the agent's Peek and Project read the beginning and what they need: looking at all
// of it takes longer than a hook has.
const checked = 1 << 20

// input takes the event: the last argument where that is JSON, as some agents
// have it, else standard input up to the limit.
func (h *hook) input() *loss {
	body, l := h.rawInput()
	if l != nil {
		return l
	}
	h.body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	switch {
	case len(h.body) == 0:
		return &loss{reason: reasonNoInput}
	case len(h.body) <= checked && !json.Valid(h.body):
		return &loss{reason: journal.DropBadInput}
	}
	return nil
}

func (h *hook) rawInput() ([]byte, *loss) {
	if n := len(h.Args); n > 1 && strings.HasPrefix(h.Args[n-1], "{") {
		return []byte(h.Args[n-1]), nil
	}
	var body bytes.Buffer
	_, err := body.ReadFrom(io.LimitReader(h.Stdin, int64(h.MaxInput)+1))
	if body.Len() > h.MaxInput {
		// The agent may not expect its pipe to break: take the rest, up to the
		// watchdog's patience.
		_, _ = io.Copy(io.Discard, h.Stdin)
		return nil, &loss{reason: journal.DropTooLarge}
	}
	if err != nil {
		return nil, &loss{reason: reasonNoInput}
	}
	return body.Bytes(), nil
}
