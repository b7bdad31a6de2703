package hookstable

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/tracesmith/tracesmith/internal/jsonedit"
)

// Entry is one command to register.
type Entry struct {
	Event   string
	Command string
	Timeout time.Duration // 0: the agent's default
}

// group is an element of an event's list. Without a matcher it takes all.
type group struct {
	Hooks []hook `json:"hooks"`
}

type hook struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"` // seconds
}

// Add registers a command, unless it is registered already: whoever gave it a
// matcher or a timeout of their own meant it.
func Add(settings []byte, e Entry) ([]byte, error) {
	if len(bytes.TrimSpace(settings)) == 0 {
		settings = []byte("{}\n")
	}
	t, err := parse(settings)
	if err != nil {
		return nil, err
	}
	registered := false
	t.eachCommand(func(found place) {
		registered = registered || found.event == e.Event && found.command == e.Command
	})
	if registered {
		return settings, nil
	}
	one := group{Hooks: []hook{{Type: "command", Command: e.Command, Timeout: int(e.Timeout / time.Second)}}}
	events, _ := t.Root.Get("hooks")
	list, _ := events.Get(e.Event)
	switch {
	case events == nil:
		return t.Insert(t.Root, "hooks", map[string][]group{e.Event: {one}})
	case list == nil:
		return t.Insert(events, e.Event, []group{one})
	}
	return t.Insert(list, "", one)
}

// RemoveWhere takes out the commands that goes picks, and what that leaves empty.
func RemoveWhere(settings []byte, goes func(event, command string) bool) ([]byte, error) {
	if len(bytes.TrimSpace(settings)) == 0 {
		return settings, nil
	}
	for {
		t, err := parse(settings)
		if err != nil {
			return nil, err
		}
		var next *place
		t.eachCommand(func(found place) {
			if next == nil && goes(found.event, found.command) {
				next = &found
			}
		})
		if next == nil {
			return settings, nil
		}
		settings = t.remove(*next)
	}
}

// Parse reads settings of the shape that can be changed.
func Parse(settings []byte) (*jsonedit.Tree, error) {
	t, err := parse(settings)
	return t.Tree, err
}

// table is a settings file of the shape that we know how to change.
type table struct{ *jsonedit.Tree }

func parse(settings []byte) (table, error) {
	tree, err := jsonedit.Parse(settings)
	if err != nil {
		return table{}, err
	}
	if tree.Root.Kind != jsonedit.Object {
		return table{}, errors.New("the settings are not a JSON object")
	}
	events, _ := tree.Root.Get("hooks")
	if events == nil {
		return table{tree}, nil
	}
	if events.Kind != jsonedit.Object {
		return table{}, errors.New(`"hooks" is not a JSON object`)
	}
	for _, event := range events.Children {
		if event.Value.Kind != jsonedit.Array {
			return table{}, fmt.Errorf(`"hooks": %q is not a JSON array`, event.Key)
		}
	}
	return table{tree}, nil
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
func (t table) eachCommand(visit func(place)) {
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
func (t table) remove(p place) []byte {
	const group = 3
	last := len(p.path) - 1
	for last > 0 && (last == group || len(p.path[last].in.Children) == 1) {
		last--
	}
	return t.Delete(p.path[last].in, p.path[last].i)
}
