package doctor

import (
	"strings"
	"testing"
	"time"
)

func TestTheRelayIsReportedAsItStands(t *testing.T) {
	const told = "http://127.0.0.1:1985"
	well := Relay{
		Agent: "deepagents-code", Way: "service", Start: "systemctl start it", Listen: "127.0.0.1:1985", Told: told, KeyRight: true,
		Running: true, Answers: true, Upstream: "https://langsmith.example", Native: true,
		Last: time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local),
	}
	for name, c := range map[string]struct {
		change func(*Relay)
		want   []string // level and a part of the text or of the fix
	}{
		"well":             {func(*Relay) {}, []string{"ok runs at " + told + " (a service of the user's) and sends on to https://langsmith.example; the newest turn came at 2026-11-30 12:00:00"}},
		"down":             {func(s *Relay) { s.Running, s.Answers = false, false }, []string{"problem systemctl start it"}},
		"down, by hooks":   {func(s *Relay) { s.Running, s.Answers, s.Way, s.Last = false, false, "hook", time.Time{} }, []string{"ok next session of deepagents-code starts it at " + told + "; no turn has come yet"}},
		"deaf":             {func(s *Relay) { s.Answers = false }, []string{"problem does not answer"}},
		"another program":  {func(s *Relay) { s.Running = false }, []string{"problem another program answers"}},
		"another port":     {func(s *Relay) { s.Listen = "127.0.0.1:1986" }, []string{"problem is started on 127.0.0.1:1986", "ok runs"}},
		"another key":      {func(s *Relay) { s.KeyRight = false }, []string{"problem key of another install", "ok runs"}},
		"nothing to start": {func(s *Relay) { s.Way = ""; s.Running, s.Answers = false, false }, []string{"problem nothing starts a relay", "problem does not run"}},
		"past it":          {func(s *Relay) { s.Endpoint = "https://eu.example" }, []string{"problem unset LANGSMITH_ENDPOINT", "ok runs"}},
		"the same twice":   {func(s *Relay) { s.Endpoint = told + "/" }, []string{"ok runs"}},
		"not installed":    {func(s *Relay) { s.Told, s.Native = "", false }, nil},
		"native alone":     {func(s *Relay) { s.Told = "" }, []string{"note install deepagents-code --relay"}},
		"by hand":          {func(s *Relay) { s.Told, s.Way, s.Endpoint = "", "", told }, []string{"ok runs at " + told + " (started by hand)"}},
		"by hand, and gone": {func(s *Relay) { s.Told, s.Way, s.Endpoint = "", "", told; s.Running, s.Answers = false, false },
			[]string{"problem nothing answers there"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := well
			c.change(&s)
			var r Report
			r.Relay(s)
			if len(r.Lines) != len(c.want) {
				t.Fatalf("%d lines, want %d: %+v", len(r.Lines), len(c.want), r.Lines)
			}
			for i, line := range r.Lines {
				level, text, _ := strings.Cut(c.want[i], " ")
				if string(line.Level) != level || !strings.Contains(line.Text+"\n"+line.Fix, text) {
					t.Errorf("%+v, want %s", line, c.want[i])
				}
				if line.Level == Problem && line.Fix == "" {
					t.Errorf("%q says nothing of what to do", line.Text)
				}
			}
		})
	}
}
