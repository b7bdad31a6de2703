package main

import (
	"context"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/runtypes"
)

// kinds are the children of a turn, in order.
var kinds = []runtypes.Kind{
	runtypes.KindLLM, runtypes.KindTool, runtypes.KindLLM, runtypes.KindTool, runtypes.KindLLM,
	runtypes.KindTool, runtypes.KindLLM, runtypes.KindTool, runtypes.KindTool,
}

// workload makes runs and submits them.
type workload struct {
	settings
	to      *exporter.Batcher
	text    []byte
	cuts    int
	ids     *os.File
	line    []byte
	refused int // ops that Submit did not take
}

func newWorkload(s settings, to *exporter.Batcher) (*workload, error) {
	text, err := os.ReadFile(s.corpus)
	if err != nil {
		return nil, err
	}
	ids, err := os.Create(s.ids)
	if err != nil {
		return nil, err
	}
	return &workload{settings: s, to: to, text: text, ids: ids}, nil
}

// run makes all turns, or those until ctx ends, and returns the number of runs.
func (w *workload) run(ctx context.Context) (made int) {
	began := time.Now()
	for turn := 0; turn < w.turns && ctx.Err() == nil; turn++ {
		who := runtypes.Identity{Integration: "bench", Runtime: "Bench", ThreadID: "thread-" + strconv.Itoa(turn>>3)}
		root := runtypes.Root(newID(), time.Now(), who)
		w.begin(root)
		for _, kind := range kinds {
			child := w.child(root, kind)
			w.begin(child)
			w.end(child)
		}
		w.end(root)
		made += 1 + len(kinds)
		if w.flush > 0 && turn%w.flush == w.flush-1 {
			_ = w.to.Flush(ctx) // its failures are in the stats
		}
		if w.rate > 0 {
			time.Sleep(time.Until(began.Add(time.Duration(made) * time.Second / time.Duration(w.rate))))
		}
	}
	return made
}

func (w *workload) child(root *runtypes.Run, kind runtypes.Kind) *runtypes.Run {
	if kind == runtypes.KindTool {
		return runtypes.Tool(root, newID(), time.Now(), "bash")
	}
	return runtypes.LLM(root, newID(), time.Now(), runtypes.Model{Name: "claude-opus-4-8", Provider: "anthropic"})
}

// begin gives a run its inputs and, where runs take two writes, posts it.
func (w *workload) begin(r *runtypes.Run) {
	switch r.Kind {
	case runtypes.KindLLM:
		r.Inputs = runtypes.Messages(
			runtypes.Message{Role: "system", Content: "You are a coding agent."},
			runtypes.Message{Role: "user", Content: w.cut(w.in)})
	default:
		r.Inputs = object("command", w.cut(w.in))
	}
	if w.two {
		first := *r
		w.submit(runtypes.Post, &first)
	}
}

// end gives a run its outputs and writes it for the last time. Its id is noted
// once the exporter has taken it: that is when it may no longer be lost.
func (w *workload) end(r *runtypes.Run) {
	switch r.Kind {
	case runtypes.KindLLM:
		r.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: []runtypes.Part{{Type: "text", Text: w.cut(w.out)}}})
		r.Usage = &runtypes.Usage{Input: 512, Output: 512, CacheRead: 256}
	default:
		r.Outputs = object("output", w.cut(w.out))
	}
	runtypes.Finish(r, time.Now())
	verb := runtypes.Post
	if w.two {
		verb = runtypes.Patch
	}
	w.submit(verb, r)
	w.line = append(append(w.line[:0], r.ID.String()...), '\n')
	_, _ = w.ids.Write(w.line) // a short list shows as runs that nobody expected
}

func (w *workload) submit(verb runtypes.Verb, r *runtypes.Run) {
	if w.to.Submit(runtypes.Op{Verb: verb, Run: r}) != nil {
		w.refused++
	}
}

// cut takes the next n bytes of text.
func (w *workload) cut(n int) string {
	w.cuts++
	at := w.cuts * 1000003 % (len(w.text) - n)
	return string(w.text[at : at+n])
}

func object(key, text string) []byte {
	raw, err := runtypes.Marshal(map[string]string{key: text})
	if err != nil { // strings always encode
		return nil
	}
	return raw
}

func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }
