package history

import (
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDryRunCountsAndChangesNothing(t *testing.T) {
	s, state, to := stage(t, "resume-and-fork"), openState(t), newServer()
	if err := s.ShowAll(); err != nil {
		t.Fatal(err)
	}
	cfg := config(t, state, s.Home, to.destination("one"))
	cfg.DryRun = true
	dry := mustImport(t, cfg)
	if to.ops != 0 || exists(filepath.Join(state.Dir(), "destinations")) {
		t.Error("a dry run left traces")
	}
	cfg.DryRun = false
	done := mustImport(t, cfg)
	if dry.Total() != done.Total() || dry.Sent[0] != done.Sent[0] || dry.Total().Sessions != 2 {
		t.Errorf("dry %+v, done %+v", dry, done)
	}
	if len(done.Folders) != 1 || done.Folders[0].Path != s.Home+"/widgets" {
		t.Errorf("folders: %+v", done.Folders)
	}
}

func TestSinceLeavesOutWhatBeganBefore(t *testing.T) {
	s, to := stage(t, "resume-and-fork"), newServer()
	if err := s.ShowAll(); err != nil {
		t.Fatal(err)
	}
	cfg := config(t, openState(t), s.Home, to.destination("one"))
	cfg.Since = time.Date(2026, 11, 30, 4, 41, 25, 0, time.UTC) // two of four turns
	report := mustImport(t, cfg)
	if report.Total().Turns != 2 {
		t.Errorf("%+v", report)
	}
	cfg.Since = time.Now().Add(time.Hour)
	if report := mustImport(t, cfg); report.Left[LeftOld] != 2 {
		t.Errorf("sessions that were not written to since: %+v", report)
	}
}

func TestFoldersWithTracingOffAreLeftOut(t *testing.T) {
	s, to := stage(t, "plain"), newServer()
	if err := s.ShowAll(); err != nil {
		t.Fatal(err)
	}
	cfg := config(t, openState(t), s.Home, to.destination("one"))
	cfg.Wanted = func(dir string) bool { return !strings.HasSuffix(dir, "widgets") }
	if report := mustImport(t, cfg); to.ops != 0 || report.Off == 0 {
		t.Errorf("%d runs left: %+v", to.ops, report)
	}
}

func TestSessionsAreLeftToThoseWhoWorkOnThem(t *testing.T) {
	at := time.Now()
	tests := map[string]struct {
		noted string // the agent's record of its processes; empty: it keeps none
		alive bool
		now   time.Time
		left  bool
	}{
		"a process works on it":          {`{"pid":7,"procStart":"1","sessionId":"SESSION"}`, true, at.Add(24 * time.Hour), true},
		"its process was killed":         {`{"pid":7,"procStart":"1","sessionId":"SESSION"}`, false, at.Add(24 * time.Hour), false},
		"its process may be elsewhere":   {`{"pid":7,"procStart":"1","sessionId":"SESSION"}`, false, at, true},
		"another process works":          {`{"pid":7,"procStart":"1","sessionId":"another"}`, true, at, false},
		"nothing is known, just written": {"", false, at, true},
		"nothing is known, of yesterday": {"", false, at.Add(24 * time.Hour), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, to := stage(t, "plain"), newServer()
			if err := s.ShowAll(); err != nil {
				t.Fatal(err)
			}
			if test.noted != "" {
				files, err := filepath.Glob(filepath.Join(s.Home, ".claude/projects/*/*.jsonl"))
				if err != nil || len(files) != 1 {
					t.Fatal(files, err)
				}
				id := strings.TrimSuffix(filepath.Base(files[0]), ".jsonl")
				write(t, filepath.Join(s.Home, ".claude/sessions/7.json"), strings.ReplaceAll(test.noted, "SESSION", id))
			}
			cfg := config(t, openState(t), s.Home, to.destination("one"))
			cfg.Now = func() time.Time { return test.now }
			cfg.Alive = func(p integrations.Proc) bool { return test.alive && p.PID == 7 }
			report := mustImport(t, cfg)
			if got := report.Left[LeftLive] == 1; got != test.left || (to.ops == 0) != test.left {
				t.Errorf("left %v, want %v; %d runs sent", got, test.left, to.ops)
			}
		})
	}
}

func TestOurOwnProcessIsAlive(t *testing.T) {
	if !alive(integrations.Proc{PID: os.Getpid()}) {
		t.Error("this process is not alive")
	}
	if alive(integrations.Proc{PID: os.Getpid(), Start: "1"}) {
		t.Error("a process of the same pid was taken for another")
	}
	if !alive(integrations.Proc{PID: os.Getpid(), Start: "Mon Nov 30 12:00:00 2026"}) {
		t.Error("a start that cannot be compared counts for a difference")
	}
}

func TestSessionUnderADrainerIsLeftToIt(t *testing.T) {
	s, state, to := stage(t, "plain"), openState(t), newServer()
	capture(t, state, s, newServer().destination("other"))
	sessions, err := state.Sessions()
	if err != nil || len(sessions) != 1 {
		t.Fatal(sessions, err)
	}
	lock, err := sessions[0].TryDrain()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if report := mustImport(t, config(t, state, s.Home, to.destination("one"))); report.Left[LeftLive] != 1 || to.ops != 0 {
		t.Errorf("%d runs sent: %+v", to.ops, report)
	}
}

// What can be built is built, and a session that cannot be read costs only itself.
func TestDamagedTranscripts(t *testing.T) {
	s := stage(t, "parallel")
	if err := s.ShowAll(); err != nil {
		t.Fatal(err)
	}
	whole := newServer()
	mustImport(t, config(t, openState(t), s.Home, whole.destination("one")))
	files, err := filepath.Glob(filepath.Join(s.Home, ".claude/projects/*/*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	damage := map[string]func() string{
		"empty":          func() string { return "" },
		"half a line":    func() string { return string(text[:len(text)-40]) },
		"a newer format": func() string { return strings.ReplaceAll(string(text), `"type":"user"`, `"type":"person"`) },
		"garbage inside": func() string {
			return strings.Replace(string(text), "\n", "\n{\x00\xff}\nnull\n[]\n\"type\":\"user\"\n", 3)
		},
	}
	for name, damaged := range damage {
		t.Run(name, func(t *testing.T) {
			write(t, files[0], damaged())
			to := newServer()
			report := mustImport(t, config(t, openState(t), s.Home, to.destination("one")))
			switch name {
			case "garbage inside", "half a line":
				if len(to.runs) < len(whole.runs)-1 {
					t.Errorf("%d of %d runs: %+v", len(to.runs), len(whole.runs), report)
				}
			default:
				if len(to.runs) != 0 || report.Total().Sessions != 0 {
					t.Errorf("%d runs: %+v", len(to.runs), report)
				}
			}
		})
	}
}

func TestPlacesThatHoldNothing(t *testing.T) {
	home := t.TempDir()
	cfg := config(t, openState(t), home, newServer().destination("one"))
	if report := mustImport(t, cfg); report.Total() != (Folder{}) || len(report.Left) != 0 {
		t.Errorf("%+v", report)
	}
	cfg.Paths = []string{filepath.Join(home, "nowhere")}
	i, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no session of Claude Code in") {
		t.Errorf("a named folder without sessions: %v", err)
	}
}

func TestSessionThatPanicsCostsOnlyItself(t *testing.T) {
	s, to := stage(t, "resume-and-fork"), newServer()
	if err := s.ShowAll(); err != nil {
		t.Fatal(err)
	}
	cfg := config(t, openState(t), s.Home, to.destination("one"))
	past := cfg.Agent.Past
	cfg.Agent.Past = func(src integrations.Source, place integrations.Place) iter.Seq2[integrations.Session, error] {
		return func(yield func(integrations.Session, error) bool) {
			for s, err := range past(src, place) {
				if strings.HasPrefix(s.ID, "1111") {
					s.Tell = func(integrations.Source) (integrations.Told, error) { panic("secret") }
				}
				if !yield(s, err) {
					return
				}
			}
		}
	}
	report := mustImport(t, cfg)
	if report.Left[LeftUnreadable] != 1 || report.Total().Sessions != 1 || len(to.runs) == 0 {
		t.Errorf("%d runs: %+v", len(to.runs), report)
	}
}
