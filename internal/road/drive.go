package road

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/replay"
)

// Drive is a session on its way.
type Drive struct {
	Program string // the tracesmith binary
	Agent   *integrations.Agent
	Stage   *replay.Stage // the recording, laid out as files that grow
	Env     []string      // of the hooks: state directory, endpoint, key
	PID     int           // what the hooks are told is the agent's process; 0: nothing

	// Pace waits for each step's time, so that the session takes as long as it
	// took when it was recorded. Otherwise the steps follow each other at once.
	Pace bool
	// Started, if set, is told of each hook process, and may kill it.
	Started func(hook *os.Process)
	// Host runs a hook's process as a child of the agent's, and returns what it printed;
	// nil: it is a child of this one. ErrKilled says that it was killed.
	Host func(cmd *exec.Cmd, started func(hook *os.Process)) ([]byte, error)

	// Times are how long each hook took, from its start to its end.
	Times []time.Duration
}

// Run plays every step of the recording. A hook that was killed is no error; one
// that fails or prints something is.
func (d *Drive) Run(ctx context.Context) error {
	for i, step := range d.Stage.Steps {
		if d.Pace {
			if err := sleepUntil(ctx, step.At); err != nil {
				return err
			}
		}
		if err := d.Stage.Show(i); err != nil {
			return err
		}
		if _, registered := d.Agent.Hook(step.Event); !registered {
			continue // recorded for study
		}
		if err := d.hook(ctx, step); err != nil {
			return fmt.Errorf("road: step %d (%s): %w", i+1, step.Event, err)
		}
	}
	return d.Stage.ShowAll()
}

// hook runs one hook process as the agent would: the event on standard input,
// whatever is printed collected.
func (d *Drive) hook(ctx context.Context, step replay.Step) error {
	cmd := exec.CommandContext(ctx, d.Program, append([]string{"hook", d.Agent.Name}, step.Argv...)...)
	cmd.Env = append([]string{"HOME=" + d.Stage.Home, "USERPROFILE=" + d.Stage.Home}, d.Env...)
	if d.PID > 0 {
		cmd.Env = append(cmd.Env, "CLAUDE_PID="+strconv.Itoa(d.PID))
	}
	cmd.Dir = d.Stage.Home
	cmd.Stdin = bytes.NewReader(append(step.Body, '\n'))
	run, started := d.Host, d.Started
	if run == nil {
		run = runHere
	}
	if started == nil {
		started = func(*os.Process) {}
	}
	begin := time.Now()
	out, err := run(cmd, started)
	d.Times = append(d.Times, time.Since(begin))
	if errors.Is(err, ErrKilled) {
		return nil
	}
	if err == nil && !bytes.Equal(out, d.Agent.Reply) {
		err = fmt.Errorf("the hook printed %d bytes that are not the agent's reply", len(out))
	}
	return err
}

// ErrKilled says that a hook was killed.
var ErrKilled = errors.New("road: the hook was killed")

// runHere runs a hook's process and returns what it printed.
func runHere(cmd *exec.Cmd, started func(*os.Process)) ([]byte, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	started(cmd.Process)
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() {
		err = ErrKilled
	}
	return out.Bytes(), err
}

// Deliver runs `tracesmith drain --all --wait`: whatever is left is delivered.
func (d *Drive) Deliver(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, d.Program, "drain", "--all", "--wait")
	cmd.Env = append([]string{"HOME=" + d.Stage.Home, "USERPROFILE=" + d.Stage.Home}, d.Env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("road: drain: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// Repository makes a folder of the staged home a git repository, as far as reading
// HEAD takes: no git program is needed.
func (d *Drive) Repository(folder, branch, sha, remote string) error {
	dir := filepath.Join(d.Stage.Home, folder, ".git")
	files := map[string]string{
		"HEAD":                 "ref: refs/heads/" + branch + "\n",
		"refs/heads/" + branch: sha + "\n",
		"config":               "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = " + remote + "\n",
		"objects/info/packs":   "",
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("road: repository: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return fmt.Errorf("road: repository: %w", err)
		}
	}
	return nil
}

func sleepUntil(ctx context.Context, at time.Time) error {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
