package cursor

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/jsonedit"
)

// setup says how hooks are registered: in hooks.json, which other tools share. All
// tables that apply are run, the user's and the project's.
func setup() integrations.Setup {
	return integrations.Setup{
		Program: "cursor-agent",
		Path: func(dir string, _ bool, _ func(string) string) string {
			return filepath.Join(dir, ".cursor", "hooks.json")
		},
		Add:    addHooks,
		Remove: removeHooks,
		Shell: func(system string) integrations.Shell {
			if system == "windows" { // it has been seen to start cmd, and PowerShell
				return integrations.Cmd
			}
			return integrations.Sh
		},
		Note: `Cursor reads the table when it is saved. A project's table counts in a workspace that is trusted.
A Cursor that was started from the desktop has no variables of a shell: put settings in Tracesmith's file.`,
	}
}

// hook is an element of an event's list.
type hook struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"` // seconds
}

// addHooks registers the command for every event that lacks it, and takes it out of
// events that are no longer wanted.
func addHooks(settings []byte, hooks []integrations.Hook, command string) ([]byte, error) {
	if len(bytes.TrimSpace(settings)) == 0 {
		settings = []byte("{\n  \"version\": 1\n}\n")
	}
	wanted := map[string]bool{}
	for _, h := range hooks {
		wanted[h.Event] = h.Event != compacting
	}
	settings, err := removeWhere(settings, func(event, found string) bool {
		return found == command && !wanted[event] && event != compacting
	})
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		if !wanted[h.Event] {
			continue
		}
		if settings, err = add(settings, h, command); err != nil {
			return nil, err
		}
	}
	return settings, nil
}

func add(settings []byte, h integrations.Hook, command string) ([]byte, error) {
	t, err := parse(settings)
	if err != nil {
		return nil, err
	}
	events, _ := t.Root.Get("hooks")
	list, _ := events.Get(h.Event)
	one := hook{Command: command, Timeout: int(h.Timeout / time.Second)}
	switch {
	case events == nil:
		if version, _ := t.Root.Get("version"); version == nil {
			if settings, err = t.Insert(t.Root, "version", 1); err != nil {
				return nil, err
			}
			return add(settings, h, command)
		}
		return t.Insert(t.Root, "hooks", map[string][]hook{h.Event: {one}})
	case list == nil:
		return t.Insert(events, h.Event, []hook{one})
	}
	for _, entry := range list.Children {
		node, _ := entry.Value.Get("command")
		if found, ok := t.Text(node); ok && found == command {
			return settings, nil
		}
	}
	return t.Insert(list, "", one)
}

// removeHooks takes out every command that ours recognises, and what that leaves empty.
func removeHooks(settings []byte, ours func(command string) bool) ([]byte, error) {
	return removeWhere(settings, func(_, command string) bool { return ours(command) })
}

func removeWhere(settings []byte, goes func(event, command string) bool) ([]byte, error) {
	if len(bytes.TrimSpace(settings)) == 0 {
		return settings, nil
	}
	for {
		t, err := parse(settings)
		if err != nil {
			return nil, err
		}
		next, found := removeOne(t, goes)
		if !found {
			return settings, nil
		}
		settings = next
	}
}

// removeOne takes out the first command that goes.
func removeOne(t *jsonedit.Tree, goes func(event, command string) bool) ([]byte, bool) {
	events, at := t.Root.Get("hooks")
	if events == nil {
		return nil, false
	}
	for e, event := range events.Children {
		for i, entry := range event.Value.Children {
			node, _ := entry.Value.Get("command")
			command, ok := t.Text(node)
			switch {
			case !ok || !goes(event.Key, command):
				continue
			case len(event.Value.Children) > 1:
				return t.Delete(event.Value, i), true
			case len(events.Children) > 1:
				return t.Delete(events, e), true
			}
			return t.Delete(t.Root, at), true
		}
	}
	return nil, false
}

// parse reads a table of the shape that can be changed.
func parse(settings []byte) (*jsonedit.Tree, error) {
	t, err := jsonedit.Parse(settings)
	if err != nil {
		return nil, err
	}
	if t.Root.Kind != jsonedit.Object {
		return nil, errors.New("the settings are not a JSON object")
	}
	events, _ := t.Root.Get("hooks")
	if events == nil {
		return t, nil
	}
	if events.Kind != jsonedit.Object {
		return nil, errors.New(`"hooks" is not a JSON object`)
	}
	for _, event := range events.Children {
		if event.Value.Kind != jsonedit.Array {
			return nil, fmt.Errorf(`"hooks": %q is not a JSON array`, event.Key)
		}
	}
	return t, nil
}
