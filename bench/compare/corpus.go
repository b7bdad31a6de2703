package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const corpusSize = 2 << 20

// writeCorpus writes the text that payloads are cut from: source of the Go
// toolchain, which is much like what a coding agent reads and writes, and the same
// wherever the toolchain is. It is ASCII, so that a byte is a character in every
// language.
func writeCorpus(path string) error {
	var text []byte
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	src := os.DirFS(filepath.Join(strings.TrimSpace(string(root)), "src"))
	err = fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case len(text) >= corpusSize:
			return fs.SkipAll
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		raw, err := fs.ReadFile(src, name)
		for _, c := range raw {
			if c == '\n' || c == '\t' || c >= ' ' && c < 0x7f {
				text = append(text, c)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(path, text[:min(len(text), corpusSize)], 0o600)
}
