package setup

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"

	"github.com/tracesmith/tracesmith/integrations"
)

// Standing says how the hooks of an agent stand in one settings file.
type Standing struct {
	Scope    Scope
	Path     string
	Hooks    int      // commands of ours, in every spelling
	Wanted   int      // as many as an install leaves
	Missing  bool     // an event lacks its command
	Commands []string // the spellings, each once
	Programs []string // that they start
	Broken   []string // those of the programs that are not there
	Trusted  bool
	Err      error // why the file cannot be read
}

// Complete reports whether every event has one command, and all have the same.
func (s Standing) Complete() bool {
	return s.Err == nil && s.Hooks == s.Wanted && !s.Missing && len(s.Commands) == 1
}

// Rivalry is another tracer of the agent that is switched on.
type Rivalry struct {
	Name, Path, Undo string
}

// Survey says how an agent stands in the settings of its user and of the project, and
// what else traces it.
func (i *Installer) Survey(agent *integrations.Agent) ([]Standing, []Rivalry) {
	var list []Standing
	for _, scope := range []Scope{User, Project} {
		path, err := i.SettingsPath(agent, scope)
		if err != nil || scope == Project && len(list) > 0 && path == list[0].Path {
			continue
		}
		list = append(list, i.standing(agent, scope, path))
	}
	var others []Rivalry
	rivals, err := i.rivals(agent, Project)
	if err != nil {
		return list, nil // the settings that cannot be read are in list
	}
	for _, r := range rivals {
		others = append(others, Rivalry{r.Name, r.path, r.Undo})
	}
	return list, others
}

func (i *Installer) standing(agent *integrations.Agent, scope Scope, path string) Standing {
	s := Standing{Scope: scope, Path: path}
	f, err := readFile(path)
	if err != nil {
		s.Err = err
		return s
	}
	_, s.Err = agent.Setup.Remove(f.text, counting(agent.Name, func(command, program string) {
		s.Hooks++
		s.Commands = appendNew(s.Commands, command)
		s.Programs = appendNew(s.Programs, program)
		if !i.runs(program) {
			s.Broken = appendNew(s.Broken, program)
		}
	}))
	if s.Err != nil || s.Hooks == 0 {
		return s
	}
	command := s.Commands[0]
	full, err := agent.Setup.Add(nil, agent.Hooks, command)
	if err == nil {
		_, err = agent.Setup.Remove(full, counting(agent.Name, func(string, string) { s.Wanted++ }))
	}
	if err == nil {
		full, err = agent.Setup.Add(f.text, agent.Hooks, command)
	}
	s.Missing = !bytes.Equal(full, f.text)
	s.Trusted, s.Err = i.trusted(agent, path)
	s.Err = errors.Join(s.Err, err)
	return s
}

// counting is a Remove that visits and removes nothing.
func counting(agent string, visit func(command, program string)) func(string) bool {
	programOf := spellings(agent)
	return func(command string) bool {
		if program := programOf(command); program != "" {
			visit(command, program)
		}
		return false
	}
}

// runs reports whether a registered program can be started.
func (i *Installer) runs(program string) bool {
	if !filepath.IsAbs(program) {
		_, err := i.LookPath(program)
		return err == nil
	}
	_, err := exec.LookPath(filepath.FromSlash(program))
	return err == nil || errors.Is(err, exec.ErrDot)
}

func appendNew(list []string, one string) []string {
	for _, each := range list {
		if each == one {
			return list
		}
	}
	return append(list, one)
}
