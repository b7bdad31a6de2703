//go:build linux

package road

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/ingest"
)

// recordings that the road is driven with, one after the other.
var recordings = []string{
	"parallel", "failing", "tui-esc-stream", "background-agent",
	"nested-subagents", "resume-and-fork", "tui-queued-prompt", "stop-hook-blocks",
	"interrupt-tool-sigint", "tui-compact",
	"openai-codex/sub_v2", "openai-codex/tui_compact", "openai-codex/stop_block",
	"copilot/background_subagent",
	"cursor/parallel_subagents",
}

// Hooks and drainers are killed with -9 at random, acknowledgements are lost, the
// server answers 409 to a request as soon as any operation of it is known. In the
// end it holds what the journal and the transcripts give, every run once, nothing
// open, and so does another, which gets spans. A hook that was killed before it wrote is
// the one thing that is lost.
func TestCrashesLoseNothingAndDoubleNothing(t *testing.T) {
	rounds := len(recordings)
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
	dice := &dice{rng: rand.New(rand.NewPCG(seed, 0))}
	j := begin(t, recording, dice.faults()).doubled(dice.faults())
	killer := &killer{state: j.state, dice: dice}
	defer killer.wait()
	j.drive.Started = func(hook *os.Process) {
		if dice.chance(0.15) {
			killer.later(hook.Pid, 5*time.Millisecond)
		}
		if dice.chance(0.3) {
			killer.drainers(100 * time.Millisecond)
		}
	}
	j.run()
	killer.drainers(0)
	killer.wait()
	want := j.expected()

	for range 3 { // drainers that die at it
		killer.drainers(400 * time.Millisecond)
		_ = j.drive.Deliver(t.Context())
		killer.wait()
	}
	j.deliver()
	j.compare(want)
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
