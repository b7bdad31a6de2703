package deepagentscode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

// hear adds what hooks told of tools, subagents and compactions that the database does
// not know of: somebody registered them by hand. Where no hook says whose a tool is that
// begins, and one subagent works, it is taken for that one's.
func (s *story) hear(src integrations.Source, t *turn) (lost error) {
	var working []*scope
	for _, ref := range t.Heard {
		e, d, err := recall(src, ref)
		if err != nil {
			lost = err
			continue
		}
		switch e.Kind {
		case preTool:
			owner := s.own()
			if one := s.below(d.Agent); one != nil {
				owner = one
			} else if len(working) == 1 && d.Tool != toolTask {
				owner = working[0]
			}
			if owner.task == d.ToolID { // the call that started it
				owner = s.own()
			}
			s.started(owner, e.At, d)
		case postTool, failedTool:
			s.ended(e.At, d)
		case subagentStart:
			if one := s.begun(e.At, d); one != nil {
				working = append(working, one)
			}
		case subagentStop:
			for i, one := range working {
				if one.task == d.Agent {
					one.last, one.said = e.At, d.Text
					working = append(working[:i], working[i+1:]...)
					break
				}
			}
		case preCompact:
			// Its time is all that tells it from another: a line may be there twice.
			if !slices.ContainsFunc(s.merges, func(m merge) bool { return m.at.Equal(e.At) }) {
				s.merges = append(s.merges, merge{at: e.At, trigger: d.Trigger})
			}
		}
	}
	return lost
}

// known is the call of an id, whichever agent made it.
func (s *story) known(id string) *tool {
	for _, one := range s.scopes {
		if t := one.tool(id); t != nil {
			return t
		}
	}
	return nil
}

func (s *story) started(owner *scope, at time.Time, d *data) {
	if d.ToolID == "" || s.known(d.ToolID) != nil {
		return
	}
	owner.tools = append(owner.tools, &tool{id: d.ToolID, name: nativeTool(d.Tool), args: object(d.Input), from: at, hooked: true})
}

// ended ends a call. The hooks of a batch come when all of it is done: the time that the
// tool took says when it was.
func (s *story) ended(at time.Time, d *data) {
	if s.known(d.ToolID) == nil {
		s.started(s.own(), at, d)
	}
	t := s.known(d.ToolID)
	if t == nil || !t.hooked || !t.to.IsZero() {
		return
	}
	t.to, t.duration = at, d.Duration
	if d.Duration != nil {
		took := time.Duration(min(max(0, *d.Duration), maxDuration) * float64(time.Millisecond))
		if end := t.from.Add(took); end.Before(at) {
			t.to = end
		}
	}
	t.err, t.halted = d.Error, d.Halted
	if d.Error != "" {
		return
	}
	var back note
	if json.Unmarshal(d.Response, &back) != nil || back.Content == nil {
		t.output = object(d.Response)
		return
	}
	said := words(back.Content)
	t.output, t.exit = output(said), back.Artifact.Exit
	if back.Status == "error" {
		t.err = cmp.Or(said, toolFailed)
	}
}

// toolFailed stands for the error of a tool that did not say why.
const toolFailed = "the tool failed"

// maxDuration bounds what a hook says a tool took, in milliseconds: a week.
const maxDuration = 7 * 24 * 60 * 60 * 1000

// begun begins a subagent's scope below the call that started it; nil where the database
// knows it already.
func (s *story) begun(at time.Time, d *data) *scope {
	if d.Agent == "" || s.below(d.Agent) != nil {
		return nil
	}
	one := &scope{space: "hook:" + d.Agent, begun: at, last: at}
	if t := s.known(d.Agent); t != nil {
		one.adoptedBy(t)
	}
	one.task, one.kind = d.Agent, cmp.Or(d.AgentType, one.kind)
	s.scopes = append(s.scopes, one)
	return one
}

// recall reads an event once more.
func recall(src integrations.Source, ref string) (integrations.Event, *data, error) {
	e, err := src.Recall(ref)
	if err != nil {
		return e, nil, err
	}
	d := &data{}
	if err := json.Unmarshal(e.Data, d); err != nil {
		return e, nil, fmt.Errorf("deepagentscode: recall: %w", err)
	}
	return e, d, nil
}
