package pi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations/pi"
	"github.com/tracesmith/tracesmith/internal/setup"
)

// shimLine is a line that the extension sent.
type shimLine struct {
	T         int64
	PID, PPID int
	Name      string
	Event     json.RawMessage
	Lost      int
	Parent    *struct{ Session, Root string }
	Ctx       struct {
		SessionID string `json:"sessionId"`
		CWD, Mode string
		Model     map[string]string
	}
}

// host loads the extension, with a command of the test's, into a host that plays a
// scene, and returns what the host printed and how long it took.
func host(t *testing.T, command []string, scene string, env ...string) (string, time.Duration) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil || runtime.GOOS == "windows" { // the readers are shell commands
		t.Skip("!!! SKIPPED: the extension was not tried: there is no node, or no shell, on this machine")
	}
	argv, err := json.Marshal(command)
	if err != nil {
		t.Fatal(err)
	}
	text, err := pi.Agent().Setup.Add(nil, nil, string(argv))
	if err != nil {
		t.Fatal(err)
	}
	shim := filepath.Join(t.TempDir(), "tracesmith.mjs")
	if err := os.WriteFile(shim, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(node, "--check", shim).CombinedOutput(); err != nil {
		t.Fatalf("node --check: %v\n%s", err, out)
	}
	path, err := filepath.Abs("testdata/host.mjs")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, path, shim, scene)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	from := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the host failed: %v\n%s", err, out)
	}
	return string(out), time.Since(from)
}

// reader is a command that keeps what it is sent in a file, and when it has all of it
// notes that in another.
func reader(t *testing.T, first string) (command []string, lines func(streams int) []shimLine) {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("%scat > %s/$$.part; mv %s/$$.part %s/$$.lines", first, dir, dir, dir)
	return []string{"/bin/sh", "-c", script}, func(streams int) []shimLine {
		t.Helper()
		var paths []string
		for deadline := time.Now().Add(time.Minute); len(paths) < streams; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d streams came to their end, want %d", len(paths), streams)
			}
			paths, _ = filepath.Glob(filepath.Join(dir, "*.lines"))
		}
		var list []shimLine
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s := bufio.NewScanner(bytes.NewReader(text))
			s.Buffer(nil, 16<<20)
			for s.Scan() {
				var l shimLine
				if err := json.Unmarshal(s.Bytes(), &l); err != nil {
					t.Fatalf("%v in %.100s", err, s.Bytes())
				}
				list = append(list, l)
			}
		}
		return list
	}
}

func names(lines []shimLine) string {
	var list []string
	for _, l := range lines {
		list = append(list, l.Name)
	}
	return strings.Join(list, " ")
}

func TestTheExtensionSendsWhatIsReadAndNoSecret(t *testing.T) {
	t.Parallel()
	command, lines := reader(t, "")
	out, _ := host(t, command, "secrets")
	if out != "odd 0\n" {
		t.Errorf("the host says %q", out)
	}
	got := lines(1)
	want := "session_start before_agent_start before_provider_request message_start message_update message_end tool_execution_end message_end session_shutdown"
	if names(got) != want {
		t.Errorf("sent %s\nwant %s", names(got), want)
	}
	for _, l := range got {
		if _, ok := pi.Agent().Hook(l.Name); !ok {
			t.Errorf("%s is sent and not read", l.Name)
		}
		if raw, _ := json.Marshal(l); bytes.Contains(raw, []byte("SECRET")) {
			t.Errorf("%s holds what it should not: %s", l.Name, raw)
		}
		if l.T == 0 || l.PID == 0 || l.Ctx.SessionID != "secrets" || l.Ctx.CWD != "/w" || l.Ctx.Model["id"] != "large" {
			t.Errorf("%s says %+v", l.Name, l)
		}
	}
}

func TestTheExtensionIsSilentWithoutTheBinary(t *testing.T) {
	t.Parallel()
	out, _ := host(t, []string{filepath.Join(t.TempDir(), "gone"), "hook", "pi", "--stream"}, "secrets")
	if out != "odd 0\n" {
		t.Errorf("the host says %q", out)
	}
	out, _ = host(t, []string{"/bin/false"}, "secrets") // one that ends at once
	if out != "odd 0\n" {
		t.Errorf("the host says %q", out)
	}
}

func TestTheExtensionNeverThrows(t *testing.T) {
	t.Parallel()
	command, lines := reader(t, "")
	if out, _ := host(t, command, "odd"); out != "odd 0\n" {
		t.Errorf("the host says %q", out)
	}
	if got := lines(1); got[len(got)-1].Name != "session_shutdown" {
		t.Errorf("sent %s", names(got))
	}
}

// Twenty-five megabytes to a reader that reads nothing for a while: the host goes on, a
// few of them wait, and the others are counted.
func TestAFullPipeIsBoundedAndItsLossCounted(t *testing.T) {
	t.Parallel()
	command, lines := reader(t, "sleep 1; ")
	out, _ := host(t, command, "flood")
	if !strings.HasSuffix(out, "odd 0\n") {
		t.Errorf("the host says %q", out)
	}
	got := lines(1)
	lost, size, sent := 0, 0, 0
	for _, l := range got {
		lost += l.Lost
		size += len(l.Event)
		if l.Name == "message_end" {
			sent++
		}
	}
	if sent+lost != 402 || lost == 0 {
		t.Errorf("%d sent and %d lost, want 402 together", sent, lost)
	}
	if size > 6<<20 {
		t.Errorf("%d bytes waited in the host", size)
	}
}

// A reader that hangs keeps nobody from leaving.
func TestAHungReaderDoesNotHoldTheHost(t *testing.T) {
	t.Parallel()
	if _, took := host(t, []string{"/bin/sleep", "45"}, "secrets"); took > 30*time.Second {
		t.Errorf("the host took %v to end", took)
	}
}

// Where nothing outlives the agent it waits until all is delivered.
func TestInCIThePromiseOfTheEndIsKept(t *testing.T) {
	t.Parallel()
	command, lines := reader(t, "sleep 1; ")
	out, took := host(t, command, "secrets", "CI=true")
	if out != "odd 1\n" { // the promise
		t.Errorf("the host says %q", out)
	}
	if took < time.Second {
		t.Errorf("the host ended after %v, before its reader", took)
	}
	lines(1)
}

func TestASubagentSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	command, lines := reader(t, "")
	host(t, command, "family")
	pids := map[string]int{}
	got := lines(3)
	for _, l := range got {
		pids[l.Ctx.SessionID] = l.PID
	}
	for _, l := range got {
		by := ""
		if l.Parent != nil {
			by = l.Parent.Session + " " + l.Parent.Root
		}
		want := map[string]string{"family": "", "child": "family family", "grandchild": "child family"}[l.Ctx.SessionID]
		if by != want {
			t.Errorf("%s says it is of %q, want %q", l.Ctx.SessionID, by, want)
		}
		if l.Ctx.SessionID == "child" && l.PPID != pids["family"] {
			t.Errorf("the child's parent is %d, want %d", l.PPID, pids["family"])
		}
	}
}

func TestANewSessionHasAStreamOfItsOwn(t *testing.T) {
	t.Parallel()
	command, lines := reader(t, "")
	host(t, command, "again")
	streams := map[string]string{}
	for _, l := range lines(2) {
		streams[l.Ctx.SessionID] += l.Name + " "
		if l.Parent != nil {
			t.Errorf("%s is not anybody's subagent", l.Ctx.SessionID)
		}
	}
	want := map[string]string{
		"again":  "session_start message_end session_shutdown ",
		"second": "session_start message_end message_end session_shutdown ",
	}
	for session, events := range want {
		if streams[session] != events {
			t.Errorf("%s: %s", session, streams[session])
		}
	}
}

func TestTwoCopiesOfTheExtensionTellOnce(t *testing.T) {
	t.Parallel()
	command, lines := reader(t, "")
	host(t, command, "twice")
	if got := names(lines(1)); got != "session_start message_end session_shutdown" {
		t.Errorf("sent %s", got)
	}
}

func TestTheExtensionGoesWherePiLooks(t *testing.T) {
	f := func(env, want string, project bool) {
		t.Helper()
		got := pi.Agent().Setup.Path("/home/dev", project, func(key string) string {
			if key == "PI_CODING_AGENT_DIR" {
				return env
			}
			return ""
		})
		if got != filepath.FromSlash(want) {
			t.Errorf("%q: %s, want %s", env, got, want)
		}
	}
	f("", "/home/dev/.pi/agent/extensions/tracesmith.js", false)
	f("/elsewhere", "/elsewhere/extensions/tracesmith.js", false)
	f("~/pi", "/home/dev/pi/extensions/tracesmith.js", false)
	f("/elsewhere", "/home/dev/.pi/extensions/tracesmith.js", true)
}

func TestTheExtensionIsInstalledByItsBytes(t *testing.T) {
	s := pi.Agent().Setup
	command := `["/usr/local/bin/tracesmith","hook","pi","--stream"]`
	once, err := s.Add(nil, pi.Agent().Hooks, command)
	if err != nil || !bytes.Contains(once, []byte("\nconst command = "+command+";\n")) {
		t.Fatalf("%v: %.200s", err, once)
	}
	if twice, err := s.Add(once, pi.Agent().Hooks, command); err != nil || !bytes.Equal(once, twice) {
		t.Errorf("a second time it differs (%v)", err)
	}
	if _, err := s.Add([]byte("export default () => {};\n"), nil, command); err == nil {
		t.Error("somebody else's extension is overwritten")
	}
	if left, err := s.Remove(once, setup.Ours(pi.Name)); err != nil || len(left) != 0 {
		t.Errorf("uninstall leaves %q (%v)", left, err)
	}
}
