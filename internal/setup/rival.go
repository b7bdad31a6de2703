package setup

import (
	"fmt"

	"github.com/tracesmith/tracesmith/integrations"
)

// rival is another tracer that is switched on.
type rival struct {
	integrations.Rival
	path string // that switches it on
	off  string // the settings in which to switch it off
}

// rivals lists the other tracers that a scope's hooks would run beside. In a project
// the user's settings hold as well, and the project's have the last word.
func (i *Installer) rivals(agent *integrations.Agent, scope Scope) ([]rival, error) {
	var found []rival
	for _, r := range agent.Setup.Rivals {
		paths := i.rivalPaths(r, User)
		if scope == Project {
			paths = append(paths, i.rivalPaths(r, Project)...)
		}
		var by string
		for _, path := range paths {
			f, err := readFile(path)
			if err != nil {
				return nil, fmt.Errorf("%w; nothing was changed", err)
			}
			if on, known := r.On(f.text); known {
				by = ""
				if on {
					by = path
				}
			}
		}
		if by != "" {
			found = append(found, rival{r, by, i.offPath(r, scope, by)})
		}
	}
	return found, nil
}

func (i *Installer) rivalPaths(r integrations.Rival, scope Scope) []string {
	dir, err := i.base(scope)
	if err != nil || dir == "" {
		return nil
	}
	return r.Paths(dir, scope == Project, i.Env)
}

// offPath is where to switch a rival off: where it is switched on, unless that is
// beyond the scope.
func (i *Installer) offPath(r integrations.Rival, scope Scope, by string) string {
	paths := i.rivalPaths(r, scope)
	for _, path := range paths {
		if path == by {
			return by
		}
	}
	return paths[0]
}
