package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const (
	patience = 30 * time.Second // for anything that is waited for
	glance   = 20 * time.Millisecond
)

// chromium is a browser that all tests share; each has a tab of its own, with
// cookies of its own.
var chromium context.Context

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	path := find()
	if path == "" {
		fmt.Println("!!! SKIPPED: the page in a browser: no chromium in PATH")
		return 0
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	var end context.CancelFunc
	chromium, end = chromedp.NewContext(allocator)
	defer end()
	if err := chromedp.Do(chromium, chromedp.Navigate("about:blank")); err != nil {
		fmt.Fprintln(os.Stderr, "browser: start", path+":", err)
		return 1
	}
	return m.Run()
}

func find() string {
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}
	if own := os.Getenv("TRACESMITH_BROWSER"); own != "" {
		names = []string{own}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// tab is one tab of the browser.
type tab struct {
	testing.TB
	ctx context.Context

	mu       sync.Mutex
	expected string   // problems with this text in them are meant to happen
	problems []string // what a page should never do: throw, log an error, be refused by its policy, open a dialog
}

// newTab opens a tab and, at the end, holds the page to having caused no problem.
func newTab(t testing.TB) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{TB: t, ctx: ctx}
	// The first command opens the tab, which lives as long as that command's context.
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	b.look(1280, 800, "light")
	if err := chromedp.Listen(ctx, b.heard); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, problem := range b.problems {
			t.Errorf("the page: %s", problem)
		}
		if t.Failed() {
			b.shot(strings.ReplaceAll(t.Name(), "/", "-") + "-failed")
		}
	})
	return b
}

func (b *tab) heard(event any) {
	problem := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		problem = "threw " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			problem += ": " + e.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			problem = fmt.Sprintf("logged: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			problem = "wrote an error to the console"
		}
	case *page.EventJavascriptDialogOpening:
		problem = "opened a dialog: " + e.Message
	}
	if problem != "" {
		b.mu.Lock()
		if b.expected == "" || !strings.Contains(problem, b.expected) {
			b.problems = append(b.problems, problem)
		}
		b.mu.Unlock()
	}
}

// expect lets a test cause problems of a kind: a browser logs every answer that is none.
func (b *tab) expect(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = text
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// eval returns what a JavaScript expression comes to.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return got
}

// until waits for an expression to be true.
func (b *tab) until(what, expression string) {
	b.Helper()
	for end := time.Now().Add(patience); !eval[bool](b, "Boolean("+expression+")"); time.Sleep(glance) {
		if time.Now().After(end) {
			b.Fatalf("never: %s (%s)\n%s", what, expression, b.text("body"))
		}
	}
}

// text is what a person reads in an element, "" if there is none.
func (b *tab) text(selector string) string {
	b.Helper()
	return eval[string](b, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// reads waits until an element's text holds a string, wherever it is scrolled to.
func (b *tab) reads(selector, want string) {
	b.Helper()
	b.until(fmt.Sprintf("%s reads %q", selector, want),
		fmt.Sprintf("document.querySelector(%q)?.textContent.includes(%q)", selector, want))
}

func (b *tab) click(selector string) {
	b.Helper()
	b.until(selector+" is there", fmt.Sprintf("document.querySelector(%q)", selector))
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// keys presses keys one after the other. A letter comes with the key that is pressed,
// as from a keyboard, so that a page that takes the key keeps the letter out of a field.
func (b *tab) keys(keys ...string) {
	b.Helper()
	for _, key := range keys {
		if key < " " || key > "~" {
			b.do(chromedp.KeyEvent(key))
			continue
		}
		for _, press := range []input.DispatchKeyEventParams{
			{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Text: key}, {Type: input.DispatchKeyEventTypeKeyUp, Key: key},
		} {
			if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, press); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// look sets the window's size and the system's theme.
func (b *tab) look(width, height int64, theme string) {
	b.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		b.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(width, height))
}

// shot keeps a picture of the tab among the logs.
func (b *tab) shot(name string) {
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.Logf("no picture of %s: %v", name, err)
		return
	}
	dir := filepath.Join("..", "logs", "browser")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		b.Fatal(err)
	}
}
