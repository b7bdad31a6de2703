package gitinfo

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/internal/githead"
)

func headOf(dir string) githead.Head { return githead.Read(dir) }

func TestCleanURLKeepsTheAddressAlone(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := cleanURL(in); got != want {
			t.Errorf("cleanURL(%q) = %q, want %q", in, got, want)
		}
	}
	f("https://github.com/o/r.git", "https://github.com/o/r.git")
	f("https://u:p@github.com/o/r", "https://github.com/o/r")
	f("https://tok@github.com/o/r", "https://github.com/o/r")
	f("https://u:p@ss@github.com/o/r", "https://github.com/o/r")
	f("https://h.test:8443/o/r?private_token=x", "https://h.test:8443/o/r")
	f("HTTPS://h.test/o/r#frag", "https://h.test/o/r")
	f("http://h.test/o/r", "http://h.test/o/r")
	f("ssh://git@h.test:2222/o/r.git", "ssh://h.test:2222/o/r.git")
	f("git://h.test/o/r", "git://h.test/o/r")
	f("git@github.com:o/r.git", "github.com:o/r.git")
	f("github.com:o/r", "github.com:o/r")
	f("[::1]:o/r", "[::1]:o/r")
	f("ssh://git@[::1]:22/o/r", "ssh://[::1]:22/o/r")
	f("https://h.test/@scope/r", "https://h.test/@scope/r")
	// What may leave half a password behind is dropped.
	f("https://u:pa/ss@h.test/o/r", "")
	f("https://to/ken@h.test/o/r", "")
	f("https://u:pa#ss@h.test/o/r", "")
	f("https://to?ken@h.test/o/r", "")
	f("u:p@h.test:o/r", "")
	// What is no address of a host.
	for _, local := range []string{"", " ", "/srv/git/r", "../r", "./r", "r", "~/r", "file:///srv/r", "C:/r", `C:\r`, `\\host\r`, "ext::sh -c x",
		"codecommit::eu-1://r", "https://", "https://h.test", "https://h.test/", "https:///o/r", "https://h test/o", "h.test:", "https://-x/o/r"} {
		f(local, "")
	}
}

func TestTheEnvironmentOfTheProgramLeadsNowhereElse(t *testing.T) {
	got := strings.Join(environment([]string{"HOME=/h", "GIT_DIR=/x", "GIT_TRACE=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_GLOBAL=/g", "LC_ALL=de"}), " ")
	if want := "HOME=/h GIT_CONFIG_GLOBAL=/g GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 LC_ALL=C"; got != want {
		t.Errorf("got %q", got)
	}
}

func FuzzCleanURL(f *testing.F) {
	for _, seed := range []string{"https://u:hunter22@h.test/o/r", "git@h:o/r", "u:hunter22@h:o", "ssh://hunter22@h/x?y#z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := cleanURL(in)
		if again := cleanURL(got); again != got {
			t.Errorf("cleanURL(%q) = %q, and again %q", in, got, again)
		}
		if strings.ContainsAny(got, "?# \n") {
			t.Errorf("cleanURL(%q) = %q", in, got)
		}
	})
}

func ExampleLookup() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	info, err := Lookup(context.Background(), dir)
	fmt.Println(info.WorkingDirectory == dir, info.Repo() == Info{}.Repo())
	fmt.Println(err)
	// Output:
	// true true
	// gitinfo: not in a git repository
}
