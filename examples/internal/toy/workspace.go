package toy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Bounds of what a tool may take: bytes of a file or of output, time of a command.
const (
	maxOutput  = 64 << 10
	maxCommand = 2 * time.Minute
)

// Workspace is a temporary repository that the tools work in, and cannot leave.
type Workspace struct {
	Dir  string
	root *os.Root
}

// files are a program that go vet finds fault with, in a repository at its first
// commit.
func files() map[string]string {
	return map[string]string{
		"go.mod":    "module widgets\n\ngo 1.21\n",
		"main.go":   "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Printf(\"%d widgets in stock\\n\", \"three\")\n}\n",
		"README.md": "# widgets\n\nCounts widgets.\n",

		".git/HEAD":             "ref: refs/heads/fix-count\n",
		".git/config":           "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = https://github.com/example/widgets.git\n",
		".git/objects/.keep":    "",
		".git/refs/heads/.keep": "",
		".git/packed-refs":      "# pack-refs with: peeled fully-peeled sorted\n5f3c1a9e0b7d4c2a8e6f1d3b5a7c9e0f2b4d6a81 refs/heads/fix-count\n",
	}
}

// NewWorkspace makes the repository.
func NewWorkspace() (*Workspace, error) {
	dir, err := os.MkdirTemp("", "widgets-")
	if err != nil {
		return nil, fmt.Errorf("toy: workspace: %w", err)
	}
	w := &Workspace{Dir: dir}
	for name, text := range files() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("toy: workspace: %w", err), w.Close())
		}
	}
	if w.root, err = os.OpenRoot(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("toy: workspace: %w", err), w.Close())
	}
	return w, nil
}

// Close removes the repository.
func (w *Workspace) Close() error {
	var err error
	if w.root != nil {
		err = w.root.Close()
	}
	return errors.Join(err, os.RemoveAll(w.Dir))
}

// Tool is a tool as the model is told of it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
}

// Tools are the workspace's: read, edit and bash.
func Tools() []Tool {
	return []Tool{
		NewTool("read", "Read a file.", "path"),
		NewTool("edit", "Replace old by new in a file; old stands in it exactly once.", "path", "old", "new"),
		NewTool("bash", "Run a command, without a shell, in the repository.", "command"),
	}
}

// NewTool describes a tool whose arguments are texts that must all be there.
func NewTool(name, description string, arguments ...string) Tool {
	return Tool{Name: name, Description: description, Schema: schema(arguments)}
}

func schema(names []string) json.RawMessage {
	properties := map[string]any{}
	for _, name := range names {
		properties[name] = map[string]string{"type": "string"}
	}
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": names})
	if err != nil { // texts always have one
		return json.RawMessage(`{"type":"object"}`)
	}
	return raw
}

// Do runs a tool that the model calls.
func (w *Workspace) Do(ctx context.Context, tool string, input json.RawMessage) (string, error) {
	var args struct{ Path, Old, New, Command string }
	if err := json.Unmarshal(input, &args); err != nil {
		return "", fmt.Errorf("%s: arguments: %w", tool, err)
	}
	switch tool {
	case "read":
		return w.read(args.Path)
	case "edit":
		return w.edit(args.Path, args.Old, args.New)
	case "bash":
		return w.bash(ctx, args.Command)
	}
	return "", fmt.Errorf("no tool is named %q", tool)
}

func (w *Workspace) read(path string) (string, error) {
	f, err := w.root.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxOutput))
	return string(text), err
}

func (w *Workspace) edit(path, old, replacement string) (string, error) {
	text, err := w.read(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(text, old); n != 1 {
		return "", fmt.Errorf("%s: old stands in it %d times, not once", path, n)
	}
	if err := w.root.WriteFile(path, []byte(strings.Replace(text, old, replacement, 1)), 0o644); err != nil {
		return "", err
	}
	return "edited " + path, nil
}

func (w *Workspace) bash(ctx context.Context, command string) (string, error) {
	words := strings.Fields(command)
	if len(words) == 0 {
		return "", errors.New("no command")
	}
	ctx, cancel := context.WithTimeout(ctx, maxCommand)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = w.Dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=-buildvcs=false")
	out := &tail{}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.String(), err
}

// tail keeps the end of what is written to it.
type tail struct{ b bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	n, err := t.b.Write(p)
	if over := t.b.Len() - maxOutput; over > 0 {
		t.b.Next(over)
	}
	return n, err
}

func (t *tail) String() string { return t.b.String() }
