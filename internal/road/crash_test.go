//go:build linux

package road

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	claudecode "github.com/tracesmith/tracesmith/integrations/claude-code"
	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/replay"
	"github.com/tracesmith/tracesmith/runtypes"
)

var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "tracesmith-road-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "tracesmith")
	build := exec.Command("go", "build", "-o", program, "../../cmd/tracesmith")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// recordings that the road is driven with, one after the other.
var recordings = []string{
	"parallel", "failing", "tui-esc-stream", "background-agent",
	"nested-subagents", "resume-and-fork", "tui-queued-prompt", "stop-hook-blocks",
	"interrupt-tool-sigint", "tui-compact",
}

// Hooks and drainers are killed with -9 at random, acknowledgements are lost, the
// server answers 409 to a request as soon as any operation of it is known. In the
// end it holds what the journal and the transcripts give, every run once, nothing
// open. A hook that was killed before it wrote is the one thing that is lost.
func TestCrashesLoseNothingAndDoubleNothing(t *testing.T) {
	rounds := 10
	if n, err := strconv.Atoi(os.Getenv("TRACESMITH_CRASH_ROUNDS")); err == nil {
		rounds = n
	}
	for seed := range rounds {
		t.Run(fmt.Sprintf("seed %d %s", seed, recordings[seed%len(recordings)]), func(t *testing.T) {
			t.Parallel()
			crash(t, uint64(seed), recordings[seed%len(recordings)])
		})
	}
}

func crash(t *testing.T, seed uint64, recording string) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dice := &dice{rng: rand.New(rand.NewPCG(seed, 0))}

	rec, err := replay.Load(filepath.Join("..", "..", "integrations", "claude-code", "testdata", recording))
	if err != nil {
		t.Fatal(err)
	}
	stage, err := rec.Stage(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	server, err := ingest.Start(ingest.Config{Key: "key", Faults: dice.faults()}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close(context.WithoutCancel(ctx))
	agent := exec.Command("sleep", "3600")
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(t.TempDir(), "state")
	killer := &killer{state: state, dice: dice}
	defer killer.wait()
	drive := &Drive{
		Program: program, Agent: claudecode.Name, Stage: stage, PID: agent.Process.Pid,
		Env: []string{
			"TRACESMITH_STATE=" + state, "LANGSMITH_ENDPOINT=" + server.URL(), "LANGSMITH_API_KEY=key",
			"PATH=" + os.Getenv("PATH"),
		},
		Started: func(hook *os.Process) {
			if dice.chance(0.15) {
				killer.later(hook.Pid, 5*time.Millisecond)
			}
			if dice.chance(0.3) {
				killer.drainers(100 * time.Millisecond)
			}
		},
	}
	runErr := drive.Run(ctx)
	if err := agent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = agent.Wait()
	if runErr != nil {
		t.Fatal(runErr)
	}
	killer.drainers(0)
	killer.wait()
	want := expected(t, stage, state)

	for range 3 { // drainers that die at it
		killer.drainers(400 * time.Millisecond)
		_ = drive.Deliver(ctx)
		killer.wait()
	}
	if err := drive.Deliver(ctx); err != nil {
		t.Fatal(err)
	}
	got := server.Memory().Runs()
	for i := range got {
		if got[i].EndTime == "" {
			t.Errorf("%s run %s is left open", got[i].Name, got[i].ID)
		}
		got[i].SessionName = ""
	}
	if diff := cmp.Diff(lines(t, want), lines(t, got)); diff != "" {
		t.Errorf("the server holds something else than the replay (-replay +server):\n%s", diff)
	}
	if orphans := server.Memory().Orphans(); len(orphans) > 0 {
		t.Errorf("patches without a post: %v", orphans)
	}
	for _, v := range runtypes.ValidateWire(got) {
		t.Error(v)
	}
}

// expected replays what hooks left in the journal.
func expected(t *testing.T, stage *replay.Stage, base string) []runtypes.Wire {
	t.Helper()
	dir, err := journal.DefaultDir(func(string) string { return base })
	if err != nil {
		t.Fatal(err)
	}
	state, err := journal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := state.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	var entries []journal.Entry
	for _, s := range sessions {
		sizes, err := s.Sizes()
		if err != nil {
			t.Fatal(err)
		}
		for record, err := range s.Read(journal.Positions{}, sizes) {
			if err != nil {
				t.Fatal(err)
			}
			if !record.Bad {
				entries = append(entries, record.Entry)
			}
		}
	}
	if len(entries) == 0 {
		t.Fatal("no hook reached the journal")
	}
	res, err := stage.Entries(claudecode.Agent(), entries)
	if err != nil {
		t.Fatal(err)
	}
	return res.Runs
}

// lines prints runs one a line, in an order of their own.
func lines(t *testing.T, runs []runtypes.Wire) []string {
	t.Helper()
	var list []string
	for _, run := range runs {
		var v any
		raw, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		sorted, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(sorted))
	}
	slices.Sort(list)
	return list
}

// dice is chance with a fixed seed, safe for concurrent use.
type dice struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func (d *dice) chance(p float64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.Float64() < p
}

func (d *dice) within(limit time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if limit <= 0 {
		return 0
	}
	return time.Duration(d.rng.Int64N(int64(limit)))
}

// faults is a script of lost acknowledgements, errors and resets.
func (d *dice) faults() []ingest.Fault {
	var list []ingest.Fault
	for range 6 {
		f := ingest.Fault{Skip: d.rng.IntN(3)}
		switch d.rng.IntN(4) {
		case 0:
			f.Kind = ingest.FaultLost
		case 1:
			f.Kind = ingest.FaultReset
		case 2:
			f.Status = 503
		case 3:
			f.Kind, f.Delay = ingest.FaultSlow, 50*time.Millisecond
		}
		list = append(list, f)
	}
	return list
}

// killer kills processes with -9 after a random time.
type killer struct {
	state string // names the drainers that are ours
	dice  *dice
	group sync.WaitGroup
}

func (k *killer) later(pid int, within time.Duration) {
	delay := k.dice.within(within)
	k.group.Go(func() {
		time.Sleep(delay)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	})
}

// drainers kills the drainers that are at work after a random time.
func (k *killer) drainers(within time.Duration) {
	delay := k.dice.within(within)
	k.group.Go(func() {
		time.Sleep(delay)
		for _, pid := range drainers(k.state) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

func (k *killer) wait() { k.group.Wait() }

// drainers finds the processes of our program that drain our state directory.
func drainers(state string) []int {
	procs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var pids []int
	for _, path := range procs {
		cmdline, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(cmdline, []byte(program+"\x00drain")) {
			continue
		}
		environ, err := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if err != nil || !bytes.Contains(environ, []byte("TRACESMITH_STATE="+state+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(path, "/")[2]); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
