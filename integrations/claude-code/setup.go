package claudecode

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/jsonedit"
)

// shield goes in front of the command of a hook that gets SIGTERM while it still
// starts: a shell that ignores the signal lives to become the hook.
const shield = "trap '' TERM; "

// setup says how hooks are registered in Claude Code's settings:
//
//	{"hooks": {EVENT: [{"matcher": ..., "hooks": [{"type": "command", "command": ..., "timeout": ...}]}]}}
func setup() integrations.Setup {
	return integrations.Setup{
		Path: settingsPath, Add: addHooks, Remove: removeHooks,
		Program: "claude", Tested: tested, Rivals: rivals(),
	}
}

// settingsPath is the user's or the project's settings file.
func settingsPath(dir string, project bool, env func(string) string) string {
	if !project {
		if config := env("CLAUDE_CONFIG_DIR"); config != "" {
			return filepath.Join(config, "settings.json")
		}
	}
	return filepath.Join(dir, ".claude", "settings.json")
}

// settingsGroup is an element of an event's list. Without a matcher it takes all.
type settingsGroup struct {
	Hooks []settingsHook `json:"hooks"`
}

type settingsHook struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"` // seconds
}

// addHooks registers the command for every event that lacks it, and takes it out
// of events that are no longer wanted.
func addHooks(settings []byte, hooks []integrations.Hook, command string) ([]byte, error) {
	wanted := map[string]string{}
	for _, h := range hooks {
		wanted[h.Event] = commandOf(h, command)
	}
	settings, err := removeWhere(settings, func(event, found string) bool {
		return wanted[event] != found && (found == command || found == shield+command)
	})
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		if settings, err = addHook(settings, h, wanted[h.Event]); err != nil {
			return nil, err
		}
	}
	return settings, nil
}

func commandOf(h integrations.Hook, command string) string {
	if h.Shield {
		return shield + command
	}
	return command
}

// addHook registers one command, unless it is registered already: whoever gave it
// a matcher or a timeout of their own meant it.
func addHook(settings []byte, h integrations.Hook, command string) ([]byte, error) {
	if len(bytes.TrimSpace(settings)) == 0 {
		settings = []byte("{}\n")
	}
	tree, err := parseSettings(settings)
	if err != nil {
		return nil, err
	}
	registered := false
	tree.eachCommand(func(found place) {
		registered = registered || found.event == h.Event && found.command == command
	})
	if registered {
		return settings, nil
	}
	group := settingsGroup{Hooks: []settingsHook{{Type: "command", Command: command, Timeout: int(h.Timeout / time.Second)}}}
	events, _ := tree.Root.Get("hooks")
	list, _ := events.Get(h.Event)
	switch {
	case events == nil:
		return tree.Insert(tree.Root, "hooks", map[string][]settingsGroup{h.Event: {group}})
	case list == nil:
		return tree.Insert(events, h.Event, []settingsGroup{group})
	}
	return tree.Insert(list, "", group)
}

// removeHooks takes out every command that ours recognises, whatever it is
// prefixed with, and what that leaves empty.
func removeHooks(settings []byte, ours func(command string) bool) ([]byte, error) {
	return removeWhere(settings, func(_, command string) bool {
		return ours(strings.TrimPrefix(command, shield))
	})
}

func removeWhere(settings []byte, goes func(event, command string) bool) ([]byte, error) {
	if len(bytes.TrimSpace(settings)) == 0 {
		return settings, nil
	}
	for {
		tree, err := parseSettings(settings)
		if err != nil {
			return nil, err
		}
		var next *place
		tree.eachCommand(func(found place) {
			if next == nil && goes(found.event, found.command) {
				next = &found
			}
		})
		if next == nil {
			return settings, nil
		}
		settings = tree.remove(*next)
	}
}

// settingsTree is a settings file of the shape that we know how to change.
type settingsTree struct{ *jsonedit.Tree }

func parseSettings(settings []byte) (settingsTree, error) {
	tree, err := jsonedit.Parse(settings)
	if err != nil {
		return settingsTree{}, err
	}
	if tree.Root.Kind != jsonedit.Object {
		return settingsTree{}, errors.New("the settings are not a JSON object")
	}
	events, _ := tree.Root.Get("hooks")
	if events == nil {
		return settingsTree{tree}, nil
	}
	if events.Kind != jsonedit.Object {
		return settingsTree{}, errors.New(`"hooks" is not a JSON object`)
	}
	for _, event := range events.Children {
		if event.Value.Kind != jsonedit.Array {
			return settingsTree{}, fmt.Errorf(`"hooks": %q is not a JSON array`, event.Key)
		}
	}
	return settingsTree{tree}, nil
}

// place is where a command is registered.
type place struct {
	event, command string
	path           [5]step // from the root: "hooks", the event, the group, its "hooks", the entry
}

// step is one child on the way to a place.
type step struct {
	in *jsonedit.Node
	i  int
}

// eachCommand visits every registered command. What has another shape is passed over.
func (t settingsTree) eachCommand(visit func(place)) {
	events, at := t.Root.Get("hooks")
	if events == nil {
		return
	}
	for e, event := range events.Children {
		for g, group := range event.Value.Children {
			entries, inner := group.Value.Get("hooks")
			if entries == nil || entries.Kind != jsonedit.Array {
				continue
			}
			for c, entry := range entries.Children {
				node, _ := entry.Value.Get("command")
				command, ok := t.Text(node)
				if !ok {
					continue
				}
				visit(place{event.Key, command, [5]step{
					{t.Root, at}, {events, e}, {event.Value, g}, {group.Value, inner}, {entries, c},
				}})
			}
		}
	}
}

// remove takes out an entry, and with it the group, the event and the table that
// would be left with nothing. Of a group a matcher alone says nothing.
func (t settingsTree) remove(p place) []byte {
	const group = 3
	last := len(p.path) - 1
	for last > 0 && (last == group || len(p.path[last].in.Children) == 1) {
		last--
	}
	return t.Delete(p.path[last].in, p.path[last].i)
}
