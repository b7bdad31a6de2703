package config

import (
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/internal/redact"
)

func TestWhatRedactionLeavesInIsTheUsersToSay(t *testing.T) {
	w := newWorld(t)
	check := func(want string) {
		t.Helper()
		cfg := w.as(t, "")
		if got := (redact.Pass{Allow: cfg.Allow}).Text("PASSWORD=hunter22"); got != want {
			t.Errorf("got %q, want %q (%s)", got, want, cfg.Source("redact_allow"))
		}
	}
	const gone, stays = "PASSWORD=[redacted:password]", "PASSWORD=hunter22"
	write(t, w.project(), "redact_allow = ['.*']\n")
	check(gone)
	write(t, w.user(), "redact_allow = ['hunter\\d+']\n")
	check(stays)
	w.env["TRACESMITH_REDACT_ALLOW"] = `["other"]`
	check(gone)
	w.env["TRACESMITH_REDACT_ALLOW"] = `["hunter.."]`
	check(stays)
}

func TestAnAllowListWithAFaultAllowsNothing(t *testing.T) {
	for _, list := range []string{`["hunter\\d+", "hunter22("]`, `["hunter\\d+", ""]`, `["hunter\\d+", 7]`, `"hunter\\d+"`} {
		w := newWorld(t)
		w.env["TRACESMITH_REDACT_ALLOW"] = list
		cfg, err := Load(Options{Env: w.getenv, Dir: w.work})
		if err == nil || len(cfg.Allow) > 0 || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: allows %d, %v", list, len(cfg.Allow), err)
		}
	}
}

func TestARuleNamesItselfInTheMarkerAndAllowsSome(t *testing.T) {
	w := newWorld(t)
	write(t, w.user(), "[[redact_extra_rules]]\npattern = 'ACME-\\d+'\nname = 'ticket'\nallow = ['ACME-0+']\n")
	if got := w.as(t, "").Rules.Text("ACME-7 ACME-0"); got != "[redacted:ticket] ACME-0" {
		t.Errorf("got %q", got)
	}
	for _, bad := range []string{"allow = 'ACME'", "allow = ['(']", "allow = []"} {
		write(t, w.user(), "[[redact_extra_rules]]\npattern = 'ACME-\\d+'\n"+bad+"\n")
		if cfg := w.as(t, ""); cfg.Content != Metadata || len(cfg.Rules) > 0 {
			t.Errorf("%s: content %s and %d rules", bad, cfg.Content, len(cfg.Rules))
		}
	}
}
