package procid

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// sleeper starts a process that waits for its input to end.
func sleeper(t *testing.T) (pid int, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=TestMain")
	cmd.Env = append(os.Environ(), "PROCID_WAIT=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, func() {
		in.Close()
		_ = cmd.Wait()
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("PROCID_WAIT") != "" {
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	if os.Getenv("PROCID_CALLER") != "" {
		fmt.Println(Caller())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAProcessIsGoneOnlyAfterItsEnd(t *testing.T) {
	pid, end := sleeper(t)
	start, boot := Of(pid)
	if start == "" || boot == "" {
		end()
		t.Skip("this system does not tell when a process started")
	}
	if Gone(pid, start, boot) {
		t.Error("gone while it runs")
	}
	if !Gone(pid, start+"1", boot) {
		t.Error("a reused pid passed for the process")
	}
	end()
	if !Gone(pid, start, boot) {
		t.Error("not gone after its end")
	}
}

func TestWhatCannotBeKnownIsNotGone(t *testing.T) {
	now := here()
	for name, boot := range map[string]string{
		"no boot":           "",
		"another machine":   place{"elsewhere", now.boot, now.space}.String(),
		"another container": place{now.machine, now.boot, now.space + "x"}.String(),
		"nonsense":          "nonsense",
	} {
		if Gone(os.Getpid(), "1", boot) {
			t.Errorf("%s: gone", name)
		}
	}
	if Gone(0, "1", now.String()) || Gone(os.Getpid(), "", now.String()) {
		t.Error("an unknown process is gone")
	}
}

func TestARestartEndsEveryProcess(t *testing.T) {
	now := here()
	if now.machine == "" {
		t.Skip("this system has no name")
	}
	if !Gone(os.Getpid(), "1", place{now.machine, "earlier" + now.boot, now.space}.String()) {
		t.Error("a process outlived a restart")
	}
}
