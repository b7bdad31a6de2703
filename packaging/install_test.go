//go:build unix

package packaging

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestInstallScript runs install.sh as its users do, against releases that the scripts
// make with the command release. Each has an empty home.
func TestInstallScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"release": release},
		Setup:               func(e *testscript.Env) error { return emptyHome(e, filepath.Join(e.WorkDir, "release")) },
	})
}

// emptyHome gives a script a home, install.sh and, at $SERVER, the files of a folder.
func emptyHome(e *testscript.Env, files string) error {
	server := httptest.NewServer(http.FileServer(http.Dir(files)))
	e.Defer(server.Close)
	script, err := filepath.Abs(filepath.Join("..", "install.sh"))
	if err != nil {
		return err
	}
	home := filepath.Join(e.WorkDir, "home")
	for name, value := range map[string]string{
		"HOME": home, "INSTALL": script, "SERVER": server.URL, "TRACESMITH_BASE_URL": server.URL,
		"TRACESMITH_STATE": filepath.Join(e.WorkDir, "state"), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
	} {
		e.Setenv(name, value)
	}
	return os.Mkdir(home, 0o700)
}

// release is the command release VERSION SAYS: it puts into the folder release what a
// release of that version has for every system. Its program is a script that prints
// SAYS, or fails if that is empty.
func release(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: release VERSION SAYS")
	}
	program := "#!/bin/sh\nexit 1\n"
	if args[1] != "" {
		program = fmt.Sprintf("#!/bin/sh\necho '%s'\n", args[1])
	}
	dir := ts.MkAbs("release")
	ts.Check(os.MkdirAll(dir, 0o700))
	sums, err := os.OpenFile(filepath.Join(dir, "checksums.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	defer sums.Close()
	for _, system := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		name := fmt.Sprintf("tracesmith_%s_%s.tar.gz", args[0], system)
		content := archive(ts, map[string]string{
			"tracesmith": program, "man/tracesmith.1.gz": "page", "completions/tracesmith.bash": "complete",
		})
		ts.Check(os.WriteFile(filepath.Join(dir, name), content, 0o600))
		_, err := fmt.Fprintf(sums, "%x  %s\n", sha256.Sum256(content), name)
		ts.Check(err)
	}
}

func archive(ts *testscript.TestScript, files map[string]string) []byte {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	pack := tar.NewWriter(zip)
	for name, content := range files {
		ts.Check(pack.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}))
		_, err := pack.Write([]byte(content))
		ts.Check(err)
	}
	ts.Check(pack.Close())
	ts.Check(zip.Close())
	return packed.Bytes()
}
