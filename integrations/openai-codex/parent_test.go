package openaicodex

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

const parentOrder = "20261130T010000000000Z01a22ab6-868f-73f1-b885-aec80fdf0b4c"

func kept(t *testing.T, body string, env map[string]string) data {
	t.Helper()
	raw, err := project(integrations.Payload{Body: []byte(body), Env: func(key string) string { return env[key] }})
	if err != nil {
		t.Fatal(err)
	}
	var d data
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestATurnHangsUnderTheRunThatStartedTheAgent(t *testing.T) {
	body := `{"session_id":"` + rootID + `","hook_event_name":"UserPromptSubmit","turn_id":"` + turnID + `","transcript_path":"` + rolloutOf(rootID) + `"}`
	for _, name := range []string{runtypes.EnvParent, runtypes.EnvParentClaudeCode} {
		prompted := kept(t, body, map[string]string{name: parentOrder})
		lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
		lines = append(lines, sayLine(turnID, "done"), usageLine(turnID, "r1", 10, 2), doneLine(turnID, "done"))
		x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
		x.event("SessionStart", start("startup"))
		x.event("UserPromptSubmit", prompted)
		x.event("Stop", names(turnID)) // the turn's first hook says where it belongs
		x.own(integrations.Grew, integrations.Dead)
		if len(x.list) != 2 {
			t.Fatalf("%s: %v", name, x.told())
		}
		top, call := x.runs[x.list[0]], x.runs[x.list[1]]
		if !strings.HasPrefix(top.DottedOrder, parentOrder+".") || top.TraceID.String() != parentOrder[22:] || top.ParentID != top.TraceID {
			t.Errorf("%s: the turn is %s of trace %s", name, top.DottedOrder, top.TraceID)
		}
		if call.TraceID != top.TraceID || call.ParentID != top.ID || !strings.HasPrefix(call.DottedOrder, top.DottedOrder+".") {
			t.Errorf("%s: its call is %s", name, call.DottedOrder)
		}
	}
	if d := kept(t, body, map[string]string{runtypes.EnvParent: "no dotted order"}); d.Parent != "" {
		t.Errorf("parent %q", d.Parent)
	}
}

func TestATurnThatWasPostedDoesNotMove(t *testing.T) {
	lines := append([]string{metaLine(rootID, "")}, opening(turnID)...)
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event("SessionStart", start("startup"))
	x.own(integrations.Grew) // posts it, though no hook has named it
	if len(x.list) != 1 {
		t.Fatalf("%v", x.told())
	}
	late := names(turnID)
	late.Parent = parentOrder
	x.event("UserPromptSubmit", late)
	lines = append(lines, sayLine(turnID, "done"), usageLine(turnID, "r1", 10, 2), doneLine(turnID, "done"))
	x.src.files[rolloutOf(rootID)] = write(lines...)
	x.event("Stop", late)
	x.own(integrations.Grew, integrations.Dead)
	if root := x.runs[x.list[0]]; root.TraceID != root.ID || strings.Contains(root.DottedOrder, ".") {
		t.Errorf("posted as a root and then moved to %s", root.DottedOrder)
	}
}
