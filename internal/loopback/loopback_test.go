package loopback

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestOnlyWhatIsThisMachineByItsNatureIsLoopback(t *testing.T) {
	for _, host := range []string{"localhost", "LOCALHOST:1", "127.0.0.1", "127.9.9.9:80", "[::1]", "[::1]:80", "::1", "[::ffff:127.0.0.1]:1"} {
		if !Is(host) {
			t.Errorf("%s is not", host)
		}
	}
	for _, host := range []string{
		"", ":80", "localhost.evil.example", "127.0.0.1.evil.example", "evil.localhost", "localhost.", "0.0.0.0", "[::]:1", "2130706433", "0x7f.1", "127.1", "10.0.0.1", "127.0.0.1@evil.example", "[::1]evil", "[::1%25lo].evil",
	} {
		if Is(host) {
			t.Errorf("%s is", host)
		}
	}
}

func TestARequestUnderAnotherNameIsRefusedOnOneLine(t *testing.T) {
	ask := func(h http.Handler, host string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Host = host
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	served := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	check := func(h http.Handler, host string, want int, header ...string) {
		t.Helper()
		if w := ask(h, host, header...); w.Code != want || want != 200 && strings.Count(w.Body.String(), "\n") != 1 {
			t.Errorf("%s %v: %d %q", host, header, w.Code, w.Body)
		}
	}
	check(Guard(served), "127.0.0.1:1984", 200)
	check(Guard(served), "rebound.example:1984", 403)
	check(Guard(served), "192.0.2.1", 403)
	check(Guard(served), "127.0.0.1:1984", 403, "Origin", "https://page.example")
	check(Guard(served), "127.0.0.1:1984", 403, "Sec-Fetch-Site", "cross-site")
	check(Hosts(served, false), "localhost:1", 200, "Origin", "http://localhost:3000") // a page of the user's own
	check(Hosts(served, false), "rebound.example", 403)
	check(Hosts(served, true), "192.0.2.1:8123", 200)
	check(Hosts(served, true), "[2001:db8::1]:8123", 200)
	check(Hosts(served, true), "rebound.example", 403)
	check(Hosts(served, true, "Agent"), "agent:8123", 200)
	check(Hosts(served, false, "agent"), "agent.evil.example", 403)
}

func TestATokenIsKeptForItsOwnerAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serve", "key")
	first, err := Token(path, "mine-")
	if err != nil || !strings.HasPrefix(first, "mine-") || len(first) < 30 {
		t.Fatal(first, err)
	}
	if again, err := Token(path, "mine-"); err != nil || again != first {
		t.Errorf("%q, %v", again, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("mine-"), 0o600); err != nil { // half of one
		t.Fatal(err)
	}
	if other, err := Token(path, "mine-"); err != nil || other == first || len(other) != len(first) {
		t.Errorf("%q, %v", other, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Token(link, "mine-"); err == nil {
		t.Error("a link was followed")
	}
}

func TestWhoeverAsksFirstAtOnceIsToldTheSameToken(t *testing.T) {
	for range 10 {
		path := filepath.Join(t.TempDir(), "key")
		var told [4]string
		var group sync.WaitGroup
		for i := range told {
			group.Go(func() { told[i], _ = Token(path, "mine-") })
		}
		group.Wait()
		kept, err := Token(path, "mine-")
		if err != nil || slices.ContainsFunc(told[:], func(each string) bool { return each != kept }) {
			t.Fatalf("%q is kept, %q were told; %v", kept, told, err)
		}
	}
}

func TestNoSecretIsNotOneThatIsKnown(t *testing.T) {
	if Shown("", "") || Shown("", "a") || Shown("a") || Shown("b", "a", "") || !Shown("a", "", "a") {
		t.Error("a secret is taken for another")
	}
}
