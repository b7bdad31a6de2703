//go:build linux

package road

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// hostVariable makes this program play an agent's process, which has hooks run.
const hostVariable = "ROAD_HOST"

// request asks a host to run a hook; it answers with the process, then with the outcome.
type request struct {
	Args, Env []string
	Dir       string
	Stdin     []byte
}

type answer struct {
	PID    int
	Output []byte
	Killed bool
	Failed string
}

// host runs what it is asked to until nobody asks any more.
func host() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var ask request
		if in.Decode(&ask) != nil {
			return
		}
		cmd := exec.Command(ask.Args[0], ask.Args[1:]...)
		cmd.Env, cmd.Dir, cmd.Stdin = ask.Env, ask.Dir, bytes.NewReader(ask.Stdin)
		output, err := runHere(cmd, func(p *os.Process) { _ = out.Encode(answer{PID: p.Pid}) })
		done := answer{Output: output, Killed: errors.Is(err, ErrKilled)}
		if err != nil && !done.Killed {
			done.Failed = err.Error()
		}
		_ = out.Encode(done)
	}
}

// caller speaks to a host.
type caller struct {
	out *json.Encoder
	in  *json.Decoder
}

func newCaller(t *testing.T, host *exec.Cmd) *caller {
	t.Helper()
	in, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := host.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	return &caller{out: json.NewEncoder(out), in: json.NewDecoder(in)}
}

// run has the host run a hook.
func (c *caller) run(cmd *exec.Cmd, started func(*os.Process)) ([]byte, error) {
	stdin, err := io.ReadAll(cmd.Stdin)
	if err != nil {
		return nil, err
	}
	if err := c.out.Encode(request{Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, Stdin: stdin}); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	var begun, done answer
	if err := c.in.Decode(&begun); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	if begun.PID == 0 {
		return nil, fmt.Errorf("host: %s", begun.Failed)
	}
	if process, err := os.FindProcess(begun.PID); err == nil {
		started(process)
	}
	if err := c.in.Decode(&done); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	switch {
	case done.Killed:
		return nil, ErrKilled
	case done.Failed != "":
		return done.Output, errors.New(done.Failed)
	}
	return done.Output, nil
}
