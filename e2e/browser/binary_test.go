package browser

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tracesmith/tracesmith/internal/web/webtest"
)

// TestTheProgramsOwnAddressOpensThePage runs the program as its user does, follows the
// address it prints, and stores a turn from another process.
func TestTheProgramsOwnAddressOpensThePage(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "bin", "tracesmith")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.Command("go", "build", "-o", program, "./cmd/tracesmith")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	view := exec.Command(program, "view", "--no-open")
	view.Dir = dir
	view.Env = append(os.Environ(), "HOME="+dir, "USERPROFILE="+dir, "XDG_CONFIG_HOME="+dir, "TRACESMITH_STATE="+filepath.Join(dir, "state"),
		"LANGSMITH_API_KEY=", "LANGCHAIN_API_KEY=", "TRACESMITH_API_KEY=")
	view.Stderr = os.Stderr
	out, err := view.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := view.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	t.Cleanup(func() { _ = view.Process.Kill() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t)
	b.do(chromedp.Navigate(strings.TrimSpace(address)))
	b.reads(".note", "Nothing recorded yet")
	b.reads("#about", "Nothing leaves this machine")
	b.until("the page listens", "document.getElementById('live').textContent === 'live'")
	if at := eval[string](b, "location.href"); strings.Contains(at, "token") {
		t.Errorf("the token stays in the address: %s", at)
	}

	found, err := filepath.Glob(filepath.Join(dir, "state", "*", "*", "*", "runs.db"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	runs, err := webtest.Open(context.Background(), found[0])
	if err != nil {
		t.Fatal(err)
	}
	err = runs.Apply(context.Background(), plain(t, "thread", 1, time.Now().Add(-time.Minute), "Written by another process").runs, nil)
	if err = errors.Join(err, runs.Close()); err != nil {
		t.Fatal(err)
	}
	b.reads(".row", "Written by another process")
	b.click(".row a")
	b.reads(".row", "Written by another process")

	b.expect("ERR_") // the page notices
	if err := view.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	go func() { ended <- view.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("interrupted: %v", err)
		}
	case <-time.After(patience):
		t.Error("it does not end when interrupted")
	}
	b.until("the page says so", "document.getElementById('live').textContent === 'reconnecting…'")
}
