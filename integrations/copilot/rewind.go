package copilot

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// mark is the last line that was looked at. To take a conversation back to an earlier
// prompt Copilot cuts the log off there and goes on: then the mark is gone, and something
// newer stands before it or in its place.
type mark struct {
	Line int64     `json:"line"`
	Sum  string    `json:"sum"` // of its last bytes, where its id and its time are
	At   time.Time `json:"at"`
}

// tailOf is the end of a line.
func tailOf(line []byte) []byte { return line[max(0, len(line)-256):] }

// marked notes the last line that was looked at by its offset and tail.
func (r *reducer) marked(line int64, tail []byte) {
	m := mark{Line: line, Sum: agentkit.HashText(string(tail)), At: timeOf(tail)}
	if r.Mark != nil && m.At.Before(r.Mark.At) {
		m.At = r.Mark.At
	}
	r.Mark = &m
}

// rewind ends what is open if the log was cut off below it, and goes on with what was
// written since.
func (r *reducer) rewind(src integrations.Source) ([]runtypes.Op, error) {
	from, err := r.rewound(src)
	if from < 0 || err != nil {
		return nil, err
	}
	r.open()
	if r.Turn != nil && r.reader.root == nil {
		r.reader.root = newStretch(r.Turn.Place, r.Turn.Begun)
	}
	for id, a := range r.Agents {
		if a.Busy && r.reader.agents[id] == nil {
			r.reader.agents[id] = newStretch(r.Place, a.Time)
		}
	}
	for _, s := range r.reader.agents {
		s.cutOff()
	}
	r.cut()
	ops := append(r.emitTurn(nil, false), r.advanceAgents(false)...)
	maps.DeleteFunc(r.Agents, func(_ string, a *agent) bool { return a.Busy }) // what it hung under is gone
	r.reader, r.From, r.Notice, r.Prompt, r.Mark = nil, from, 0, 0, nil
	return ops, nil
}

// rewound is the offset of the first line after those that were looked at, if the log was
// cut off below them; -1 if it was not, or nothing was written since.
func (r *reducer) rewound(src integrations.Source) (int64, error) {
	if r.Mark == nil {
		return -1, nil
	}
	for line, err := range src.Lines(r.Log, r.Mark.Line) {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return -1, nil
		case err != nil:
			return -1, fmt.Errorf("copilot: log: %w", err)
		case line.Offset == r.Mark.Line && agentkit.HashText(string(tailOf(line.Data))) == r.Mark.Sum:
			return -1, nil
		}
		break
	}
	for line, err := range src.Lines(r.Log, 0) {
		if err != nil {
			return -1, fmt.Errorf("copilot: log: %w", err)
		}
		if timeOf(line.Data).After(r.Mark.At) {
			return line.Offset, nil
		}
	}
	return -1, nil
}
