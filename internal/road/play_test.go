//go:build linux

package road

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/exporter/otlp"
	"github.com/tracesmith/tracesmith/integrations"
	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
	"github.com/tracesmith/tracesmith/integrations/goagent"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/internal/capture"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/internal/replay"
)

// recorded is a session of an agent, or a stream of AG-UI.
type recorded struct {
	agent *integrations.Agent // nil: a stream
	dir   string
}

// each calls f with every recording there is.
func each(t *testing.T, f func(*testing.T, recorded)) {
	t.Helper()
	of := func(name string, agent *integrations.Agent) {
		found, err := filepath.Glob(filepath.Join("..", "..", "integrations", name, "testdata", "*", "runs.json"))
		if err != nil || len(found) == 0 {
			t.Errorf("%s has no recordings: %v", name, err)
		}
		for _, path := range found {
			dir := filepath.Dir(path)
			t.Run(name+"/"+filepath.Base(dir), func(t *testing.T) { f(t, recorded{agent, dir}) })
		}
	}
	for _, agent := range agents.All() {
		of(agent.Name, agent)
	}
	of(agui.Integration, nil)
}

// play plays a recording through the code of the hook, the drainer and the exporter, or
// of the library, and returns what stood for the home folder. Every JSON document on the
// way goes through change, if there is one.
func (w *wiretap) play(t *testing.T, r recorded, level string, change func([]byte) []byte) (home string) {
	t.Helper()
	if change == nil {
		change = func(doc []byte) []byte { return doc }
	}
	dir := t.TempDir()
	env := map[string]string{
		"HOME": dir, "TRACESMITH_STATE": filepath.Join(dir, "state"), "TRACESMITH_CONTENT": level, "TRACESMITH_STORE": "false",
		"LANGSMITH_ENDPOINT": w.server.URL(), "LANGSMITH_API_KEY": "key",
	}
	getenv := func(name string) string { return env[name] }
	if r.agent == nil {
		w.stream(t, r.dir, getenv, change)
		return dir
	}
	rec, err := replay.Load(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	stage, err := rec.Stage(dir, time.Now().Add(-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	env["HOME"] = stage.Home
	rewrite(t, filepath.Join(dir, "complete"), change)
	if err := stage.ShowAll(); err != nil {
		t.Fatal(err)
	}
	hooks(t, r.agent, stage, getenv, change)
	w.drain(t, env["TRACESMITH_STATE"])
	return stage.Home
}

// rewrite changes the agent's own files.
func rewrite(t *testing.T, dir string, change func([]byte) []byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".jsonl" && filepath.Ext(path) != ".json" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var out []byte
		for line := range bytes.Lines(raw) {
			out = append(out, change(line)...)
		}
		return os.WriteFile(path, out, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// hooks plays the events as the agent's hooks, or its shim's stream, are told of them.
func hooks(t *testing.T, agent *integrations.Agent, stage *replay.Stage, env func(string) string, change func([]byte) []byte) {
	t.Helper()
	hook := func(stdin string, args ...string) {
		capture.Run(capture.Config{
			Args: append([]string{agent.Name}, args...), Env: env,
			Stdin: strings.NewReader(stdin), Stdout: io.Discard, Find: agents.Find,
			Spawn:   func(string, string) error { return nil },
			Deliver: func(string, time.Duration) error { return nil },
			Exit:    func(int) { t.Error("the watchdog bit") },
		})
	}
	var lines strings.Builder
	for _, step := range stage.Steps {
		body := change(step.Body)
		switch {
		case len(body) == 0:
		case agent.Stream != nil:
			lines.Write(compactJSON(body))
			lines.WriteByte('\n')
		default:
			args := make([]string, len(step.Argv))
			for i, arg := range step.Argv {
				args[i] = string(change([]byte(arg)))
			}
			hook(string(body), args...)
		}
	}
	if agent.Stream != nil {
		hook(lines.String(), capture.StreamFlag)
	}
}

// drain delivers what the hooks left.
func (w *wiretap) drain(t *testing.T, dir string) {
	t.Helper()
	state, err := journal.Open(filepath.Join(dir, "tracesmith", "v1"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := exporter.NewClient(exporter.Config{Endpoint: w.server.URL(), APIKey: "key", Redact: exporter.NoRedaction})
	if err != nil {
		t.Fatal(err)
	}
	spans, err := otlp.NewClient(exporter.Config{
		Endpoint: w.spans.URL() + "/otel", Credentials: http.Header{"X-Api-Key": {"key"}}, Redact: exporter.NoRedaction,
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := drain.New(drain.Config{
		State: state, Redact: redact.Run, Insist: true,
		Agents: func(name string) *integrations.Agent { found, _ := agents.Find(name); return found },
		Destinations: []drain.Destination{
			{ID: "langsmith-test", Export: client.Deliver, Past: true},
			{ID: "otlp-test", Export: spans.Deliver, Past: true, Ended: true},
		},
		Poll: time.Millisecond, Idle: time.Millisecond, Grace: time.Millisecond,
		Gone: func(journal.Proc) bool { return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.All(t.Context(), true), client.Close(), spans.Close()); err != nil {
		t.Fatal(err)
	}
}

// stream plays a stream of AG-UI through the library.
func (w *wiretap) stream(t *testing.T, dir string, env func(string) string, change func([]byte) []byte) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []byte
	for line := range bytes.Lines(raw) {
		lines = append(lines, change(line)...)
	}
	tracer, err := goagent.Open(t.Context(), goagent.Config{Integration: agui.Integration, Runtime: "AG-UI", Dir: t.TempDir(), Env: env})
	if err != nil {
		t.Fatal(err)
	}
	reducer := agui.NewReducer(tracer.Sink(), agui.RunOptions{State: true, Answers: true, Force: true})
	decoder := agui.NewDecoder(bytes.NewReader(lines), agui.Options{})
	for {
		frame, err := decoder.Next()
		if err != nil {
			break
		}
		reducer.Add(frame, time.Now())
	}
	reducer.Close(agui.EndOfStream, time.Now())
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func compactJSON(raw []byte) []byte {
	var line bytes.Buffer
	if json.Compact(&line, raw) != nil {
		return bytes.ReplaceAll(raw, []byte("\n"), []byte(" "))
	}
	return line.Bytes()
}
