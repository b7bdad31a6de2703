package copilot

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/jsonedit"
)

// tested is the newest Copilot CLI that this package was tried with.
const tested = "1.0.102"

// hooksFile is ours alone: Copilot reads every file of the folder.
const hooksFile = "tracesmith.json"

// setup says how hooks are registered: in the user's folder, where Copilot runs them in
// every mode and asks nobody. Those of a repository it runs in trusted folders only.
func setup() integrations.Setup {
	return integrations.Setup{
		Program: "copilot",
		Tested:  tested,
		Path:    hooksPath,
		Add:     addHooks,
		Remove:  removeHooks,
		Trusted: trusted,
		Shell: func(system string) integrations.Shell {
			if system == "windows" {
				return integrations.PowerShell
			}
			return integrations.Sh
		},
		Note: `Copilot CLI runs no hook at all while "disableAllHooks" is true in its settings.json: take that out.
Hooks in a repository run in folders that Copilot trusts only.`,
	}
}

// hooksPath is our file of hooks in the user's or the project's folder of them.
func hooksPath(dir string, project bool, env func(string) string) string {
	if project {
		return filepath.Join(dir, ".github", "hooks", hooksFile)
	}
	if home := env("COPILOT_HOME"); home != "" {
		return filepath.Join(home, "hooks", hooksFile)
	}
	return filepath.Join(dir, ".copilot", "hooks", hooksFile)
}

// trusted reports whether Copilot runs hooks at all.
func trusted(path string, read func(path string) ([]byte, error)) (bool, error) {
	settings, err := read(filepath.Join(filepath.Dir(filepath.Dir(path)), "settings.json"))
	if err != nil {
		return true, nil // there are none, or they are not Copilot's own file of a project
	}
	tree, err := jsonedit.Parse(settings)
	if err != nil {
		return true, nil // it may hold comments; Copilot itself complains of worse
	}
	off, _ := tree.Root.Get("disableAllHooks")
	return !tree.Is(off, "true"), nil
}

// hookEntry is a hook as it is registered.
type hookEntry struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Timeout int               `json:"timeoutSec,omitempty"`
	Env     map[string]string `json:"env"`
}

// hookTable is a file of hooks of the shape that we know how to change.
type hookTable struct {
	*jsonedit.Tree
	events *jsonedit.Node
}

func parseHooks(settings []byte) (hookTable, error) {
	tree, err := jsonedit.Parse(settings)
	if err != nil {
		return hookTable{}, err
	}
	if tree.Root.Kind != jsonedit.Object {
		return hookTable{}, errors.New("the settings are not a JSON object")
	}
	events, _ := tree.Root.Get("hooks")
	if events != nil && events.Kind != jsonedit.Object {
		return hookTable{}, errors.New(`"hooks" is not a JSON object`)
	}
	if events != nil {
		for _, event := range events.Children {
			if event.Value.Kind != jsonedit.Array {
				return hookTable{}, fmt.Errorf(`"hooks": %q is not a JSON array`, event.Key)
			}
		}
	}
	return hookTable{tree, events}, nil
}

// addHooks registers the command for every event that lacks it, and takes it out of
// those that are not ours: a misspelt event is dropped by Copilot in silence.
func addHooks(settings []byte, hooks []integrations.Hook, command string) ([]byte, error) {
	wanted := map[string]bool{}
	for _, h := range hooks {
		wanted[h.Event] = true
	}
	if len(bytes.TrimSpace(settings)) == 0 {
		settings = []byte("{\n  \"version\": 1,\n  \"hooks\": {}\n}\n")
	}
	settings, err := removeWhere(settings, func(event, found string) bool { return found == command && !wanted[event] })
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		if settings, err = addHook(settings, h, command); err != nil {
			return nil, err
		}
	}
	return settings, nil
}

func addHook(settings []byte, h integrations.Hook, command string) ([]byte, error) {
	t, err := parseHooks(settings)
	if err != nil {
		return nil, err
	}
	registered := false
	t.each(func(event, found string, _ *jsonedit.Node, _ int) {
		registered = registered || event == h.Event && found == command
	})
	if registered {
		return settings, nil
	}
	one := hookEntry{"command", command, int(h.Timeout / time.Second), map[string]string{envEvent: h.Event}}
	list, _ := t.events.Get(h.Event)
	switch {
	case t.events == nil:
		return t.Insert(t.Root, "hooks", map[string][]hookEntry{h.Event: {one}})
	case list == nil:
		return t.Insert(t.events, h.Event, []hookEntry{one})
	}
	return t.Insert(list, "", one)
}

// removeHooks takes out every command that ours recognises.
func removeHooks(settings []byte, ours func(command string) bool) ([]byte, error) {
	return removeWhere(settings, func(_, command string) bool { return ours(command) })
}

// removeWhere takes out the entries that goes picks, and the event that is left with none.
func removeWhere(settings []byte, goes func(event, command string) bool) ([]byte, error) {
	if len(bytes.TrimSpace(settings)) == 0 {
		return settings, nil
	}
	for {
		t, err := parseHooks(settings)
		if err != nil {
			return nil, err
		}
		var list *jsonedit.Node
		var at int
		t.each(func(event, command string, in *jsonedit.Node, i int) {
			if list == nil && goes(event, command) {
				list, at = in, i
			}
		})
		if list == nil {
			return settings, nil
		}
		settings = t.remove(list, at)
	}
}

// each visits every command that is registered, whichever shell it is for. What has
// another shape is passed over.
func (t hookTable) each(visit func(event, command string, list *jsonedit.Node, i int)) {
	if t.events == nil {
		return
	}
	for _, event := range t.events.Children {
		for i, entry := range event.Value.Children {
			for _, key := range [...]string{"command", "bash", "powershell"} {
				node, _ := entry.Value.Get(key)
				if node == nil {
					continue
				}
				if command, ok := t.Text(node); ok {
					visit(event.Key, command, event.Value, i)
					break
				}
			}
		}
	}
}

// remove takes out an entry, and the event with it if it was the only one.
func (t hookTable) remove(list *jsonedit.Node, i int) []byte {
	if len(list.Children) > 1 {
		return t.Delete(list, i)
	}
	for at, event := range t.events.Children {
		if event.Value == list {
			return t.Delete(t.events, at)
		}
	}
	return t.Delete(list, i)
}
