package goagent_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tracesmith/tracesmith/integrations/goagent"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

// world is an environment of the test's own, and a server that plays LangSmith.
type world struct {
	env    map[string]string
	server *ingest.Server
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server, err := ingest.Start(ingest.Config{Key: "key"}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(context.Background()) })
	return &world{server: server, env: map[string]string{
		"TRACESMITH_STATE": t.TempDir(), "HOME": t.TempDir(),
		"LANGSMITH_ENDPOINT": server.URL(), "LANGSMITH_API_KEY": "key",
	}}
}

func (w *world) open(t *testing.T, cfg goagent.Config) *goagent.Tracer {
	t.Helper()
	cfg.Env = func(name string) string { return w.env[name] }
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	cfg.OnDrop = func(_ []runtypes.Op, why error) { t.Error(why) }
	tracer, err := goagent.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

// turn is a turn with a tool that prints a secret.
func turn(sink runtypes.Sink) *runtypes.Turn {
	turn := runtypes.StartTurn(sink, runtypes.Identity{Integration: "my-agent", Runtime: "My Agent", ThreadID: "t"}, "print it")
	turn.Tool("bash", "", map[string]string{"command": "env"}).End("GITHUB_TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyzAB")
	turn.End("done")
	return turn
}

func TestATurnGoesToLangSmithAndToTheStore(t *testing.T) {
	w := newWorld(t)
	tracer := w.open(t, goagent.Config{})
	turn(tracer.Sink())
	var tree bytes.Buffer
	if err := tracer.WriteTrees(t.Context(), &tree); err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(tree.String(), "\n"); len(got) != 3 || !strings.HasPrefix(got[0], "● root My Agent Turn") || !strings.HasPrefix(got[1], "└─ ▪ tool bash") {
		t.Errorf("tree:\n%s", tree.String())
	}
	if where := tracer.Where(); len(where) != 2 || !strings.HasPrefix(where[0], w.env["TRACESMITH_STATE"]) || where[1] != w.server.URL() {
		t.Errorf("where: %v", where)
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	runs := w.server.Memory().Runs()
	if len(runs) != 2 || runs[0].SessionName != "my-agent" || runs[0].EndTime == "" {
		t.Errorf("%+v", runs)
	}
	for _, v := range runtypes.ValidateWire(runs) {
		t.Error(v)
	}
	for _, run := range runs {
		if strings.Contains(string(run.Outputs), "ghp_") {
			t.Errorf("a secret left: %s", run.Outputs)
		}
	}
}

func TestMetadataOfAnyShapeArrivesWithoutItsSecrets(t *testing.T) {
	w := newWorld(t)
	tracer := w.open(t, goagent.Config{})
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
	id := runtypes.Identity{Integration: "my-agent", ThreadID: "t"}
	turn := runtypes.StartTurn(tracer.Sink(), id, "x", runtypes.WithMetadata(map[string]any{"flags": []string{"-v"}}))
	call := turn.LLM("m", nil).Model(runtypes.Model{InvocationParams: map[string]any{"limits": map[string]int{"tokens": 7}}})
	call.Metadata("env", map[string]string{"GITHUB_TOKEN": secret}).Event("retry", map[string]any{"why": []string{secret}}).End("y")
	turn.Tool("bash", "", nil).Attach("log", "text/plain", []byte("caf\xe9 "+secret)).End([]byte(secret + "\n"))
	turn.End("z")
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	runs := w.server.Memory().Runs()
	for _, run := range runs {
		raw, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		coded := base64.StdEncoding.EncodeToString([]byte(secret))
		if text := string(raw); strings.Contains(text, secret) || strings.Contains(text, coded[:len(coded)/4*3]) {
			t.Errorf("a secret left: %s", raw)
		}
		if flags, ok := run.Metadata()["flags"].([]any); !ok || len(flags) != 1 || flags[0] != "-v" {
			t.Errorf("%s: flags are %v", run.Name, run.Metadata()["flags"])
		}
	}
	meta := runs[1].Metadata()
	env, _ := meta["env"].(map[string]any)
	params, _ := meta["ls_invocation_params"].(map[string]any)
	limits, _ := params["limits"].(map[string]any)
	if text, _ := env["GITHUB_TOKEN"].(string); !strings.HasPrefix(text, "[redacted") || fmt.Sprint(limits["tokens"]) != "7" {
		t.Errorf("env %v, parameters %v", meta["env"], meta["ls_invocation_params"])
	}
}

func TestAnIdentityNamesAgentThreadAndFolder(t *testing.T) {
	w := newWorld(t)
	tracer := w.open(t, goagent.Config{Integration: "my-agent", RuntimeVersion: "1.2.3"})
	defer tracer.Close(t.Context())
	dir := t.TempDir()
	want := runtypes.Identity{Integration: "my-agent", Runtime: "my-agent", RuntimeVersion: "1.2.3", ThreadID: "t", WorkingDirectory: dir}
	if got := tracer.Identity(t.Context(), dir, "t"); got != want {
		t.Errorf("%+v", got)
	}
	var off *goagent.Tracer
	if got := off.Identity(t.Context(), dir, "t"); got != (runtypes.Identity{}) {
		t.Errorf("with tracing off: %+v", got)
	}
}

func TestSettingsShapeWhatIsSent(t *testing.T) {
	w := newWorld(t)
	for key, value := range map[string]string{
		"TRACESMITH_CONTENT": "metadata", "TRACESMITH_TAGS": "ci", "TRACESMITH_METADATA": "team=blue",
		"TRACESMITH_LIVE": "0", "TRACESMITH_STORE": "0",
	} {
		w.env[key] = value
	}
	tracer := w.open(t, goagent.Config{Project: "p"})
	turn(tracer.Sink())
	if err := tracer.WriteTrees(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, run := range w.server.Memory().Runs() {
		if len(run.Inputs) > 0 || len(run.Outputs) > 0 || run.SessionName != "p" || run.Tags[0] != "ci" || run.Metadata()["team"] != "blue" {
			t.Errorf("%+v", run)
		}
	}
	if counts := w.server.Memory().Counts(); counts.Posts != 2 || counts.Patches != 0 {
		t.Errorf("%+v, want one write for each run", counts)
	}
}

func TestAProgramThatJoinsATraceSendsToItsProject(t *testing.T) {
	w := newWorld(t)
	agent := w.open(t, goagent.Config{Integration: "my-agent"})
	server := w.open(t, goagent.Config{Integration: "tool-server"})
	turn := runtypes.StartTurn(agent.Sink(), agent.Identity(t.Context(), t.TempDir(), "t"), "x")
	header := http.Header{}
	turn.Inject(header)
	parent, ok := runtypes.Extract(header)
	if !ok {
		t.Fatal("no trace in the headers")
	}
	joined := runtypes.StartTurn(server.Sink(), runtypes.Identity{Integration: "tool-server"}, "y", runtypes.WithParent(parent))
	joined.Tool("index", "", nil).End("hits")
	joined.End("z")
	turn.End("z")
	if err := errors.Join(server.Close(t.Context()), agent.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	runs := w.server.Memory().Runs()
	if len(runs) != 3 {
		t.Fatalf("%d runs", len(runs))
	}
	for _, run := range runs {
		program := "tool-server"
		if run.ParentRunID == "" {
			program = "my-agent"
		}
		if run.SessionName != "my-agent" || run.Metadata()["ls_agent_runtime"] != program {
			t.Errorf("%s of %v is in project %s", run.Name, run.Metadata()["ls_agent_runtime"], run.SessionName)
		}
	}
}

func TestTheUsersOwnRulesHoldForAgentsThatTraceThemselves(t *testing.T) {
	w := newWorld(t)
	w.env["TRACESMITH_REDACT_EXTRA"] = `[{"pattern": "[a-z]+", "replace": "#"}]`
	tracer := w.open(t, goagent.Config{Project: "p"})
	turn(tracer.Sink())
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	runs := w.server.Memory().Runs()
	if len(runs) == 0 {
		t.Fatal("nothing arrived")
	}
	for _, run := range runs {
		var in any
		if err := json.Unmarshal(run.Inputs, &in); err != nil || !strings.Contains(string(run.Inputs), "#") {
			t.Errorf("%s: %s", run.Name, run.Inputs)
		}
	}
}

func TestTracingThatIsOffIsNil(t *testing.T) {
	w := newWorld(t)
	w.env["TRACESMITH"] = "0"
	tracer := w.open(t, goagent.Config{})
	if tracer.Sink() != nil || len(tracer.Where()) != 0 || tracer.Close(t.Context()) != nil {
		t.Error("a destination though tracing is off")
	}
	var none *goagent.Tracer
	if none.Sink() != nil || none.Where() != nil || none.Flush(t.Context()) != nil || none.Close(t.Context()) != nil || turn(none.Sink()) != nil ||
		none.Submit(runtypes.Op{}) != nil {
		t.Error("a nil Tracer is not off")
	}
	if entries, err := os.ReadDir(w.env["TRACESMITH_STATE"]); err != nil || len(entries) > 0 {
		t.Errorf("%v %v", entries, err)
	}
}

func TestADestinationThatIsMissingDoesNotHoldUpTheOther(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.env["TRACESMITH_STATE"], "tracesmith", "v1", "store")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "runs.db"), []byte("somebody else's file"), 0o600); err != nil {
		t.Fatal(err)
	}
	tracer := w.open(t, goagent.Config{})
	turn(tracer.Sink())
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(w.server.Memory().Runs()); n != 2 {
		t.Errorf("%d runs", n)
	}
	delete(w.env, "LANGSMITH_API_KEY")
	if _, err := goagent.Open(t.Context(), goagent.Config{Env: func(name string) string { return w.env[name] }}); err == nil {
		t.Error("no destination and no error")
	}
	w.env["TRACESMITH_CONTENT"] = "nonsense"
	if _, err := goagent.Open(t.Context(), goagent.Config{Env: func(name string) string { return w.env[name] }}); err == nil {
		t.Error("settings that cannot be used and no error")
	}
}

// play starts one more server that plays LangSmith.
func play(t *testing.T, key string) *ingest.Server {
	t.Helper()
	server, err := ingest.Start(ingest.Config{Key: key}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(context.Background()) })
	return server
}

func TestWhoeverIsSignedInNeedsNoKey(t *testing.T) {
	w := newWorld(t)
	delete(w.env, "LANGSMITH_API_KEY")
	file := filepath.Join(w.env["HOME"], ".langsmith", "config.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	login := `{"current_profile": "me", "profiles": {"me": {"api_url": "` + w.server.URL() + `", "oauth": {"access_token": "key", "expires_at": "2999-01-01T00:00:00Z"}}}}`
	if err := os.WriteFile(file, []byte(login), 0o600); err != nil {
		t.Fatal(err)
	}
	tracer := w.open(t, goagent.Config{})
	turn(tracer.Sink())
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(w.server.Memory().Runs()); n != 2 {
		t.Errorf("%d runs, want 2", n)
	}
}

func TestEveryReplicaGetsTheTurn(t *testing.T) {
	w := newWorld(t)
	other := play(t, "another")
	w.env["LANGSMITH_RUNS_ENDPOINTS"] = `[{"project_name": "own"}, {"api_url": "` + other.URL() + `", "api_key": "another", "project_name": "theirs"}]`
	tracer := w.open(t, goagent.Config{})
	if where := tracer.Where(); len(where) != 3 || where[1] != w.server.URL() || where[2] != other.URL() {
		t.Errorf("where: %v", where)
	}
	turn(tracer.Sink())
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for project, server := range map[string]*ingest.Server{"own": w.server, "theirs": other} {
		runs := server.Memory().Runs()
		if len(runs) != 2 || runs[0].SessionName != project {
			t.Errorf("%s: %d runs: %+v", project, len(runs), runs)
		}
		for _, v := range runtypes.ValidateWire(runs) {
			t.Errorf("%s: %s", project, v)
		}
	}
}

func TestWhatIsHiddenFromLangSmithStaysInTheStore(t *testing.T) {
	w := newWorld(t)
	w.env["LANGSMITH_HIDE_INPUTS"] = "true"
	tracer := w.open(t, goagent.Config{})
	turn(tracer.Sink())
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, run := range w.server.Memory().Runs() {
		if strings.Contains(string(run.Inputs), "print it") || len(run.Outputs) == 0 {
			t.Errorf("inputs %s, outputs %s", run.Inputs, run.Outputs)
		}
	}
}

func TestWhatIsLostIsCountedOnceAndItsDestinationNamed(t *testing.T) {
	w := newWorld(t)
	w.env["LANGSMITH_ENDPOINT"] = "http://127.0.0.1:9" // nobody answers
	told := 0
	tracer, err := goagent.Open(t.Context(), goagent.Config{
		Env: func(name string) string { return w.env[name] }, Dir: t.TempDir(),
		OnDrop: func(lost []runtypes.Op, _ error) { told += len(lost) },
	})
	if err != nil {
		t.Fatal(err)
	}
	turn(tracer.Sink())
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := tracer.Close(ctx); err == nil || !strings.Contains(err.Error(), "LangSmith") {
		t.Errorf("closed: %v", err)
	}
	state, err := journal.Open(filepath.Join(w.env["TRACESMITH_STATE"], "tracesmith", "v1"))
	if err != nil {
		t.Fatal(err)
	}
	if drops, err := state.Drops(); err != nil || told != 3 || len(drops) != 1 || drops[journal.DropUnsent] != 2 {
		t.Errorf("told of %d ops, counted %v, %v; want 3 ops of 2 runs", told, drops, err)
	}
}
