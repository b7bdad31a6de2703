package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"

	"github.com/tracesmith/tracesmith/internal/web"
)

// story is a thread with one of everything there is to see.
func story(t testing.TB, site *site) (failed *turn) {
	begin := time.Now().Add(-2 * time.Hour)
	prompts := []string{
		"Uploads over 5 MB fail on slow networks. Find out why and make them retry.",
		"Now add a test that cuts the connection half way",
		"The test fails on CI with `context deadline exceeded`. Fix it, and don't just raise the timeout.",
	}
	for i, prompt := range prompts {
		u := newTurn(t, "5b1c7f0e-2f7c-4d2a-9d6e-3f1f6f9c2a10", i+1, begin.Add(time.Duration(i)*20*time.Minute), prompt)
		full := 14_000 + i*9_000
		u.model(full, "I'll look for the upload path first.")
		u.tool("Grep", map[string]any{"pattern": "func.*Upload", "path": "internal"}, "internal/upload/client.go:41: func (c *Client) Upload(", 0)
		u.model(full+1_900, "The client tries once and gives up. Let me make it retry, rewinding the body each time.")
		u.tool("Edit", map[string]any{
			"file_path":  "/home/dev/widgets/internal/upload/client.go",
			"old_string": "\tresp, err := c.http.Do(req)\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer resp.Body.Close()",
			"new_string": "\tresp, err := c.retry(ctx, func() (*http.Response, error) {\n\t\tbody.Seek(0, io.SeekStart)\n\t\treturn c.http.Do(req)\n\t})\n\tif err != nil {\n\t\treturn fmt.Errorf(\"upload: %w\", err)\n\t}\n\tdefer resp.Body.Close()",
		}, "The file has been updated.", 2*time.Second)
		u.model(full+4_200, "Now the tests.")
		u.tool("Bash", map[string]any{"command": "go test ./internal/upload/ -run TestRetry -count=1", "description": "Run the retry tests"}, "ok", 0)
		if i == 2 {
			u.fails("Exit code 1\n--- FAIL: TestRetryAfterCut (0.31s)\n    client_test.go:77: got 1 attempt, want 3")
			u.compaction()
			full = 5_000
		}
		u.subagent("reviewer", 6_200)
		u.model(full+6_000, "Uploads now retry three times with backoff, rewinding the body before each try.")
		site.put(u.done("Uploads now retry three times with backoff, rewinding the body before each try.")...)
		failed = u
	}
	for i, prompt := range []string{"Explain how the gateway picks a backend", "Rename field Timeout to Patience", "Why is the build red on windows?", "Speed up the list page"} {
		u := plain(t, fmt.Sprintf("thread-%d", i), 1, begin.Add(-time.Duration(i*7)*time.Hour), prompt)
		site.put(u.runs...)
	}
	return failed
}

func TestEveryViewFitsWideAndNarrowLightAndDark(t *testing.T) {
	site := siteOf(t, web.Config{Destinations: func() []web.Destination {
		return []web.Destination{{Address: "https://api.smith.langchain.com", Project: "widgets", Content: "full", Last: time.Now().Add(-time.Hour)}}
	}})
	u := story(t, site)
	edit := u.runs[4].ID
	views := []struct{ name, address, ready string }{
		{"threads", "#/threads", "document.querySelectorAll('.row').length === 5"},
		{"thread", "#/thread/" + u.thread, "document.querySelectorAll('.row').length === 3"},
		{"turn", "#/turn/" + u.trace() + "?run=" + edit, "document.querySelector('.diff ins') && document.querySelector('.neighbours a')"},
		{"totals", "#/totals", "document.querySelectorAll('.total').length === 4"},
	}
	b := newTab(t)
	for _, theme := range []string{"light", "dark"} {
		for _, size := range [][2]int64{{1280, 800}, {390, 844}} {
			b.look(size[0], size[1], theme)
			for _, view := range views {
				site.open(b, view.address)
				b.until(view.name+" is filled", view.ready)
				b.reads("#about", "https://api.smith.langchain.com (project widgets, redacted, last ")
				b.shot(fmt.Sprintf("%s-%d-%s", view.name, size[0], theme))
				if wide := eval[int64](b, "document.documentElement.scrollWidth"); wide > size[0] {
					t.Errorf("%s is %d pixels wide in a window of %d", view.name, wide, size[0])
				}
				if over := eval[string](b, sideways); over != "" {
					t.Errorf("%s at %d pixels: what scrolls sideways is %s", view.name, size[0], over)
				}
			}
		}
	}
}

// sideways names the parts that are wider than their room, but for charts and tables,
// which scroll by themselves.
const sideways = `[...document.querySelectorAll("body, main, .page, .head, .filters, .scroller")]
	.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.className || e.tagName).join(", ")`

// controls are roles of what can be used; each has to have a name to be called by.
var controls = map[string]bool{"button": true, "link": true, "textbox": true, "searchbox": true, "combobox": true, "checkbox": true,
	"tab": true, "treegrid": true, "Date": true, "dialog": true}

func TestEveryControlHasANameForAScreenReader(t *testing.T) {
	site := newSite(t)
	u := story(t, site)
	b := newTab(t)
	seen := map[string]int{}
	for _, address := range []string{"#/threads", "#/thread/" + u.thread, "#/turn/" + u.trace(), "#/totals"} {
		site.open(b, address)
		b.until("the view is filled", "document.querySelector('.row, .rows > .trow, .total')")
		tree, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			t.Fatal(err)
		}
		if n := eval[int](b, "document.querySelectorAll('.rows > .trow:not([aria-label])').length"); n > 0 {
			t.Errorf("%s: %d runs have no name", address, n)
		}
		for _, node := range tree.Nodes {
			role := ""
			if node.Role != nil {
				role = strings.Trim(string(node.Role.Value), `"`)
			}
			if node.Ignored || !controls[role] {
				continue
			}
			seen[role]++
			if node.Name == nil || strings.Trim(string(node.Name.Value), `" `) == "" {
				t.Errorf("%s: a %s has no name", address, role)
			}
		}
	}
	for _, role := range []string{"button", "link", "searchbox", "combobox", "checkbox", "tab", "treegrid"} {
		if seen[role] == 0 {
			t.Errorf("no %s was looked at: %v", role, seen)
		}
	}
}

// contrast works out WCAG's contrast between two colours of the style sheet.
const contrast = `((text, ground) => {
	const light = (name) => {
		const probe = document.body.appendChild(document.createElement("i"));
		probe.style.color = getComputedStyle(document.documentElement).getPropertyValue(name);
		const rgb = getComputedStyle(probe).color.match(/[0-9.]+/g).slice(0, 3).map((c) => c / 255);
		probe.remove();
		const [r, g, b] = rgb.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const [a, b] = [light(text), light(ground)].sort((x, y) => y - x);
	return (a + 0.05) / (b + 0.05);
})(%q, %q)`

func TestTextStandsOutFromItsGroundInBothThemes(t *testing.T) {
	pairs := map[string]string{ // text: the grounds it stands on
		"--text":        "--ground --surface --raised --accent-ground --failed-ground --interrupted-ground",
		"--soft":        "--ground --surface --raised --accent-ground --failed-ground",
		"--accent":      "--ground --surface",
		"--failed":      "--ground --surface --failed-ground --accent-ground",
		"--interrupted": "--ground --surface --interrupted-ground",
		"--running":     "--ground --surface --added-ground",
		"--added":       "--added-ground",
		"--removed":     "--removed-ground",
		"--subagent":    "--raised",
	}
	site := newSite(t)
	b := newTab(t)
	for _, theme := range []string{"light", "dark"} {
		b.look(1280, 800, theme)
		site.open(b, "#/threads")
		for text, grounds := range pairs {
			for ground := range strings.FieldsSeq(grounds) {
				if got := eval[float64](b, fmt.Sprintf(contrast, text, ground)); got < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f, less than 4.5", theme, text, ground, got)
				}
			}
		}
	}
}

func TestAChosenThemeIsKept(t *testing.T) {
	site := newSite(t)
	b := newTab(t)
	b.look(1280, 800, "light")
	site.open(b, "#/threads")
	ground := func() string { return eval[string](b, "getComputedStyle(document.body).backgroundColor") }
	light := ground()
	b.click("#theme")
	if got := ground(); got != light {
		t.Errorf("light by choice is %s, by the system %s", got, light)
	}
	b.click("#theme")
	dark := ground()
	if dark == light {
		t.Error("dark by choice looks like light")
	}
	b.do(chromedp.Reload())
	if got := ground(); got != dark {
		t.Errorf("after a reload the ground is %s, not %s", got, dark)
	}
}
