package redact

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestTheUsersOwnRulesReachEveryText(t *testing.T) {
	rules := Rules{{Pattern: regexp.MustCompile(`ACME-\d+`), With: "[$1]"}, {Pattern: regexp.MustCompile(`(?i)hunter`)}}
	shared := map[string]any{"ticket": "ACME-1", "deep": []any{map[string]any{"a": "ACME-2"}}, "n": 7}
	run := &runtypes.Run{
		Name: "ACME-3", Error: "no ACME-4", Tags: []string{"ACME-5", "plain"},
		Inputs: json.RawMessage(`{"messages":[{"content":"see ACME-6 \u0041CME-7, HUNTER","n":12345678901234567890}]}`), Outputs: json.RawMessage(`"ACME-8"`),
		Metadata:    shared,
		Events:      []runtypes.RunEvent{{Name: "ACME-9", Data: map[string]any{"x": "ACME-10"}}},
		Attachments: []runtypes.Attachment{{Name: "f", MIMEType: "text/plain", Data: []byte("ACME-11")}, {Name: "p", MIMEType: "image/png", Data: []byte("\x89PNG\xffACME-12")}},
	}
	run.Identity.Integration, run.Identity.Repo.Branch = "ACME-0", "fix/ACME-13"
	if err := rules.Run(run); err != nil {
		t.Fatal(err)
	}
	if shared["ticket"] != "ACME-1" {
		t.Error("a map that other runs share was changed")
	}
	if run.Identity.Integration != "ACME-0" || !strings.Contains(string(run.Attachments[1].Data), "ACME-12") {
		t.Errorf("changed what must stay: %+v", run)
	}
	run.Identity.Integration, run.Attachments = "", run.Attachments[:1]
	run.Error += string(run.Attachments[0].Data)
	all, err := json.Marshal(struct {
		*runtypes.Run
		Events any
	}{run, []any{run.Events[0].Name, run.Events[0].Data}})
	if err != nil {
		t.Fatal(err)
	}
	text := string(all)
	if strings.Contains(text, "ACME-") || strings.Contains(text, "HUNTER") || !strings.Contains(text, "[$1]") || !strings.Contains(text, "12345678901234567890") {
		t.Errorf("left %s", text)
	}
	run.Inputs = json.RawMessage(`{"a": "ACME-1"`)
	if rules.Run(run) == nil {
		t.Error("what is no JSON was let through")
	}
}

func TestAMatchThatTheRuleAllowsStays(t *testing.T) {
	allow, err := NewAllow([]string{`ACME-0+`})
	if err != nil {
		t.Fatal(err)
	}
	rules := Rules{{Pattern: regexp.MustCompile(`ACME-\d+`), With: Marker("ticket"), Allow: allow}}
	run := &runtypes.Run{Error: "ACME-000 and ACME-0001"}
	if err := rules.Run(run); err != nil || run.Error != "ACME-000 and [redacted:ticket]" {
		t.Errorf("got %q, %v", run.Error, err)
	}
}
