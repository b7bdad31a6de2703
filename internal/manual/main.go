// Command manual writes what a release ships beside the program: its man pages,
// gzipped, and the completions of the shells. It is a program of its own so that
// what formats a man page is not linked into the one that agents start.
//
//	go run ./internal/manual -out dist/manual -date 2026-11-30T12:00:00Z
//
// The same commands and the same date give the same bytes.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/tracesmith/tracesmith/internal/cli"
)

func main() {
	out := flag.String("out", "", "folder to write into; what is there already is replaced")
	date := flag.String("date", "", "day that the man pages bear, as in RFC 3339")
	flag.Parse()
	if err := run(*out, *date); err != nil {
		fmt.Fprintf(os.Stderr, "manual: %v\n", err)
		os.Exit(1)
	}
}

func run(out, date string) error {
	day, err := time.Parse(time.RFC3339, date)
	if err != nil || out == "" {
		return errors.Join(errors.New("usage: manual -out FOLDER -date TIME"), err)
	}
	return write(cli.Tree(), out, day.UTC())
}

// write replaces the folder out by man/ and completions/ for the commands of root.
func write(root *cobra.Command, out string, day time.Time) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	for _, dir := range []string{"man", "completions"} {
		if err := os.MkdirAll(filepath.Join(out, dir), 0o755); err != nil {
			return err
		}
	}
	if err := writePages(root, filepath.Join(out, "man"), day); err != nil {
		return err
	}
	return writeCompletions(root, filepath.Join(out, "completions"))
}

// writePages writes a page for a command and each of those below it that help shows.
func writePages(cmd *cobra.Command, dir string, day time.Time) error {
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			if err := writePages(child, dir, day); err != nil {
				return err
			}
		}
	}
	cmd.DisableAutoGenTag = true // it names the day that the page was built
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	var page bytes.Buffer
	header := &doc.GenManHeader{
		Title: strings.ToUpper(name), Section: "1", Date: &day,
		Source: "Tracesmith", Manual: "Tracesmith Manual",
	}
	if err := doc.GenMan(cmd, header, &page); err != nil {
		return fmt.Errorf("page of %s: %w", name, err)
	}
	return writeGzip(filepath.Join(dir, name+".1.gz"), page.Bytes())
}

// writeGzip writes a file whose gzip header names no time, so that it can be repeated.
func writeGzip(path string, text []byte) error {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, packed.Bytes(), 0o644)
}

// writeCompletions writes a script for each shell, by the name under which the shell
// looks for it.
func writeCompletions(root *cobra.Command, dir string) error {
	for name, generate := range map[string]func(io.Writer) error{
		"tracesmith.bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"_tracesmith":     root.GenZshCompletion,
		"tracesmith.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"tracesmith.ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var script bytes.Buffer
		if err := generate(&script); err != nil {
			return fmt.Errorf("completion %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), script.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
