package capture

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestTheHookLinksNothingThatIsSlowToStart(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-e", ".", "../drain/spawn", "../agents").Output()
	if err != nil {
		t.Skipf("the go program is needed: %v", err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "github.com/tracesmith/tracesmith/internal/journal") {
		t.Fatalf("unexpected list of %d packages", len(deps))
	}
	for _, dep := range deps {
		for _, banned := range []string{"net/http", "modernc.org/", "github.com/go-git/", "github.com/go-resty/", "github.com/spf13/"} {
			if strings.HasPrefix(dep, banned) {
				t.Errorf("links %s", dep)
			}
		}
	}
}
