package copilot

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// maxRepeated bounds the bytes of conversation that the calls of one turn repeat
// together. From there on each repeats only what is new.
const maxRepeated = 16 << 20

// inputs are the messages before a call: what the model was told, as far as the user
// wants it repeated. before is the conversation of earlier turns.
func (s *stretch) inputs(c *call, choice integrations.Inputs, before []runtypes.Message, repeated *int64) []runtypes.Message {
	delta := choice == integrations.InputsDelta || *repeated > maxRepeated
	list, whole := s.said(c, delta)
	if len(before) > 0 && !delta && whole && choice == integrations.InputsThread {
		list = append(slices.Clone(before), list...)
	}
	if len(list) > 1 && list[0].Role == "system" { // what is kept whatever its length is the prompt
		list = append(list[:1:1], agentkit.Bounded(list[1:])...)
	} else {
		list = agentkit.Bounded(list)
	}
	for _, m := range list {
		*repeated += int64(agentkit.SizeOf(m))
	}
	return list
}

// said renders the conversation before a call since it was last replaced, or only what
// is new since the call before it. whole says that nothing of it was replaced. A nil call
// means all of it.
func (s *stretch) said(upTo *call, delta bool) (list []runtypes.Message, whole bool) {
	from, to := 0, len(s.entries)
	whole = true
	for i, e := range s.entries {
		if e.call != nil && e.call == upTo {
			to = i
			break
		}
		if e.replaced {
			whole = false
		}
		if e.replaced || e.call != nil && !e.call.made && delta {
			from = i + 1
		}
	}
	for _, e := range s.entries[from:to] {
		switch {
		case e.call == nil:
			list = append(list, e.message)
		case e.call.heard || e.call.made:
			list = append(list, e.call.message())
		}
	}
	return list, whole
}

// recall reads what was said in the session before the turn that is on, where the user
// wants it repeated: since the last compaction, and no more than is ever sent.
func (r *reducer) recall(src integrations.Source) ([]runtypes.Message, error) {
	if r.options.Inputs != integrations.InputsThread || r.Turn == nil || r.Turn.Compaction {
		return nil, nil
	}
	if r.history != nil && r.recalled == r.Turn.Line {
		return r.history, nil
	}
	before := newStretch(place{}, time.Time{})
	for raw, err := range src.Lines(r.Log, 0) {
		if errors.Is(err, fs.ErrNotExist) || err == nil && raw.Offset >= r.Turn.Line {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("copilot: log: %w", err)
		}
		rec, ok := parseRecord(raw.Data)
		if !ok || rec.agent != "" {
			continue
		}
		switch rec.data.(type) {
		case *userMessage, *systemMessage, *round, *usageRecord, *assistantMessage, *toolStart, *toolEnd, *compacted:
			before.add(&rec)
		}
	}
	list, _ := before.said(nil, false)
	r.history, r.recalled = agentkit.Bounded(list), r.Turn.Line
	if r.history == nil {
		r.history = []runtypes.Message{}
	}
	return r.history, nil
}
