package exporter

import (
	"strings"
	"testing"
)

func TestAnAgentsAddressTakesTheProjectsPlace(t *testing.T) {
	address, err := AgentAddress("support-2", "Staging")
	if err != nil || address != "lrn:agents/support-2/environments/staging" {
		t.Fatal(address, err)
	}
	s := newLangsmith(t)
	cfg := config(s, nil)
	cfg.Address = address
	filed := pending(2)
	filed.Project = "own"
	export(t, newTestClient(t, cfg), post(pending(1)), post(filed))
	check := func(id, project, address string) {
		t.Helper()
		if got := s.field(id, "session_name") + s.field(id, "address"); got != project+address {
			t.Errorf("run %s went to %s", id, got)
		}
	}
	check(pending(1).ID.String(), "", `"`+address+`"`)
	check(filed.ID.String(), `"own"`, "")
}

func TestAnAddressThatIsNoneIsRefused(t *testing.T) {
	for _, pair := range [][2]string{
		{"", "local"}, {"a", ""}, {"a", "prod"}, {"A", "local"}, {"1a", "local"}, {"a-", "local"},
		{"a/b", "local"}, {"a\n", "local"}, {strings.Repeat("a", 64), "local"},
	} {
		if got, err := AgentAddress(pair[0], pair[1]); err == nil {
			t.Errorf("%q gives %s", pair, got)
		}
	}
}
