package main

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// client is one program that does the work.
type client struct {
	name    string
	argv    []string
	env     []string
	missing error
	results []result
}

// The versions that the peers are pinned to; npm's is in peers/js/package.json.
const (
	pythonSDK = "langsmith==0.15.1"
	zstandard = "zstandard==0.25.0"
)

// subjects builds ours and installs the others. It runs in bench/.
func subjects(dir string) ([]client, error) {
	harness := filepath.Join(dir, "harness")
	if out, err := exec.Command("go", "build", "-o", harness, "./harness").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w\n%s", err, out)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	cache = filepath.Join(cache, "tracesmith", "bench")
	return []client{
		{name: "tracesmith", argv: []string{harness}},
		{name: "tracesmith, redacting", argv: []string{harness}, env: []string{"BENCH_REDACT=1"}},
		{name: "tracesmith, spooling", argv: []string{harness}, env: []string{"BENCH_SPOOL=" + filepath.Join(dir, "spool")}},
		javaScript(filepath.Join(cache, "js")),
		python(filepath.Join(cache, "python")),
	}, nil
}

func javaScript(dir string) client {
	c := client{name: "langsmith JS", argv: []string{"node", filepath.Join(dir, "workload.mjs")}}
	c.missing = prepare(dir, "js", []string{"package.json", "workload.mjs"}, []string{"npm", "install", "--no-audit", "--no-fund"})
	if version, err := exec.Command("node", "--version").Output(); err == nil {
		c.name += ", Node " + string(version[1:max(1, len(version)-1)])
	}
	return c
}

func python(dir string) client {
	venv := filepath.Join(dir, "venv")
	bin := filepath.Join(venv, "bin")
	c := client{name: "langsmith Python", argv: []string{filepath.Join(bin, "python"), filepath.Join(dir, "workload.py")}}
	c.missing = prepare(dir, "python", []string{"workload.py"}, []string{"python3", "-m", "venv", venv},
		[]string{filepath.Join(bin, "pip"), "install", "-q", pythonSDK, zstandard})
	return c
}

//go:embed peers
var programs embed.FS

// prepare copies a peer's program and runs the commands that install what it needs.
func prepare(dir, peer string, files []string, commands ...[]string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, name := range files {
		content, err := programs.ReadFile("peers/" + peer + "/" + name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	for _, argv := range commands {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", argv[0], err, out)
		}
	}
	return nil
}
