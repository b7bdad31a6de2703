package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/tracesmith/tracesmith/internal/web"
)

func TestATurnIsExportedAsAFileThatIsReadByItself(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
	site := newSite(t)
	u := newTurn(t, "thread", 1, time.Now().Add(-time.Minute), "Export me "+evil)
	u.model(9_000, "The key is "+secret)
	u.tool("Bash", map[string]any{"command": "false"}, "", 0)
	u.fails("Exit code 1")
	site.put(u.done("Done.")...)
	b := newTab(t)
	site.open(b, "#/turn/"+u.trace())
	b.reads("h1", "Export me")
	dir := t.TempDir()
	if _, err := chromedp.Call(b.ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir,
		BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
	}); err != nil {
		t.Fatal(err)
	}
	b.click("[data-focus=export]")
	file := filepath.Join(dir, "turn-"+u.trace()+".html")
	for end := time.Now().Add(patience); ; time.Sleep(glance) {
		if _, err := os.Stat(file); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no file was saved")
		}
	}
	b.do(chromedp.Navigate("file://" + file))
	b.reads("h1", "Export me <script>window.owned = 1</script><img src=x")
	b.reads("body", "Exit code 1")
	// What was asked and what failed can be read without a click.
	if text := b.text("body"); !strings.Contains(text, "javascript:window.owned=5 </textarea></pre>{{7*7}}") || !strings.Contains(text, `"command": "false"`) ||
		!strings.Contains(text, "unpriced: claude-opus-4-5") || strings.Contains(text, "ls_agent_purpose") {
		t.Errorf("at first sight: %s", text)
	}
	if eval[bool](b, "document.documentElement.textContent.includes('"+secret+"')") {
		t.Error("a secret is in the file")
	}
	if n := eval[int](b, "'owned' in window ? 1 : document.querySelectorAll('script, img, a, iframe, [onload], [onerror]').length"); n > 0 {
		t.Errorf("%d elements of the transcript are live", n)
	}
	b.shot("export-1280-light")
}

func TestADeliveredTurnLeadsToItsPageInLangSmith(t *testing.T) {
	smith := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			return
		}
		fmt.Fprintf(w, "<title>LangSmith</title>the run %s, from %q, with %d cookies", r.URL.Path, r.Referer(), len(r.Cookies()))
	}))
	defer smith.Close()
	var delivered string
	site := siteOf(t, web.Config{
		Elsewhere: func(trace string) bool { return trace == delivered },
		// Another name than the page's, as LangSmith's is, or the browser would show its cookie.
		Open: func(_ context.Context, trace string) (string, error) {
			return strings.Replace(smith.URL, "127.0.0.1", "localhost", 1) + "/r/" + trace, nil
		},
	})
	here := plain(t, "thread", 1, time.Now().Add(-2*time.Minute), "Stays here")
	there := plain(t, "thread", 2, time.Now().Add(-time.Minute), "Is delivered")
	site.put(append(here.runs, there.runs...)...)
	delivered = there.trace()

	b := newTab(t)
	site.open(b, "#/turn/"+here.trace())
	b.reads("h1", "Stays here")
	if n := eval[int](b, "document.querySelectorAll('[data-focus=langsmith]').length"); n != 0 {
		t.Error("a turn that was not delivered leads to LangSmith")
	}
	site.open(b, "#/turn/"+there.trace())
	b.reads("[data-focus=langsmith]", "Open in LangSmith")
	before := b.tabs()
	b.click("[data-focus=langsmith]")
	want := "/r/" + there.trace()
	for end := time.Now().Add(patience); ; time.Sleep(glance) {
		found := false
		for url := range b.tabs() {
			found = found || !before[url] && strings.HasSuffix(url, want)
		}
		if found {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("no tab shows %s: %v", want, b.tabs())
		}
	}
	b.reads("h1", "Is delivered") // this tab stays
	b.do(chromedp.Navigate(strings.Replace(b.base(), "?", "", 1) + "api/traces/" + there.trace() + "/langsmith"))
	b.reads("body", "the run "+want+`, from "", with 0 cookies`)
}

// tabs are the addresses of all tabs.
func (b *tab) tabs() map[string]bool {
	b.Helper()
	got, err := chromedp.Call(b.ctx, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		b.Fatal(err)
	}
	all := map[string]bool{}
	for _, info := range got.TargetInfos {
		all[info.URL] = true
	}
	return all
}

// base is the address of the site a tab shows.
func (b *tab) base() string {
	b.Helper()
	return eval[string](b, "location.origin + '/'")
}
