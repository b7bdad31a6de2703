package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// maxProgram is the most that a release's program may weigh, in bytes. Whoever raises
// it says in the change what for: every hook maps the whole program.
const maxProgram = 23_000_000

// maxAllocations is what a package of ours may allocate before main begins: the
// variables that sync.OnceValue needs, and no tables or expressions.
const maxAllocations = 60

// module begins the import paths of our packages.
const module = "github.com/tracesmith/tracesmith/"

// builtProgram builds the program as a release is, under a name that every system can
// start, and returns it with the linker's list of what needs what. The test stands in
// this package because it imports all that the program does: go test would take an old
// result for good elsewhere.
func builtProgram(t *testing.T) (path string, edges []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "tracesmith.exe")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w -dumpdep", "-o", path, module+"cmd/tracesmith")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes()[:min(out.Len(), 4<<10)])
	}
	return path, out.Bytes()
}

func TestTheProgramStaysSmallAndReadyToStart(t *testing.T) {
	program, edges := builtProgram(t)
	t.Run("it weighs no more than it may", func(t *testing.T) { staysSmall(t, program) })
	t.Run("the linker may leave methods out", func(t *testing.T) { prunes(t, edges) })
	t.Run("our packages do nothing before main", func(t *testing.T) { startsIdle(t, program) })
}

func staysSmall(t *testing.T, program string) {
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxProgram {
		t.Errorf("the program is %d bytes, more than %d: see go tool nm -size -sort size", info.Size(), maxProgram)
	}
}

// prunes finds code that calls methods by names the linker cannot know, as templates do:
// it then keeps every method of every type, which made the program a quarter larger.
func prunes(t *testing.T, edges []byte) {
	guilty := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(edges))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		from, _, isEdge := strings.Cut(lines.Text(), " -> ")
		if name, found := strings.CutSuffix(from, " <ReflectMethod>"); isEdge && found && !guilty[name] {
			guilty[name] = true
			t.Errorf("%s calls methods by name", name)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

func startsIdle(t *testing.T, program string) {
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program, "hook", "claude-code")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", "TRACESMITH=0", "HOME="+home, "USERPROFILE="+home, "TRACESMITH_STATE="+home)
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	traced := 0
	for line := range strings.Lines(out.String()) {
		var name, unit string
		var at, clock float64
		var size, allocations int
		if n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes, %d %s", &name, &at, &clock, &size, &allocations, &unit); n != 6 {
			continue
		}
		traced++
		if strings.HasPrefix(name, module) && allocations > maxAllocations {
			t.Errorf("%s makes %d allocations before main: make what it prepares when it is asked for", name, allocations)
		}
	}
	if traced == 0 {
		t.Errorf("no package's start was traced:\n%s", out.String())
	}
}
