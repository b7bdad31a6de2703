package setup

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

// Scope says whose settings are changed.
type Scope string

// The scopes.
const (
	User    Scope = "user"
	Project Scope = "project"
)

// Installer changes the settings of agents on one machine. All fields but Now are
// needed.
type Installer struct {
	Home    string // the user's home folder; empty: there is none
	Dir     string // the project's folder
	Env     func(string) string
	System  string // as runtime.GOOS
	Program string // the path to register; may be empty for an uninstall or a survey
	// Receipts is the folder for what install notes.
	Receipts string
	// LookPath finds a program on the search path.
	LookPath func(string) (string, error)
	Now      func() time.Time // nil: time.Now
}

// ErrNoHome says that the user's settings cannot be found.
var ErrNoHome = errors.New("no home directory: set HOME")

// SettingsPath is where an agent keeps its settings in a scope.
func (i *Installer) SettingsPath(agent *integrations.Agent, scope Scope) (string, error) {
	dir, err := i.base(scope)
	if err != nil {
		return "", err
	}
	path := agent.Setup.Path(dir, scope == Project, i.Env)
	if !filepath.IsAbs(path) {
		return "", ErrNoHome
	}
	return path, nil
}

func (i *Installer) base(scope Scope) (string, error) {
	if scope == Project {
		if i.Dir == "" {
			return "", errors.New("no working directory")
		}
		return i.Dir, nil
	}
	return i.Home, nil
}

// Command is what the agent is to run.
func (i *Installer) Command(agent *integrations.Agent) (string, error) {
	shell := integrations.Sh
	if agent.Setup.Shell != nil {
		shell = agent.Setup.Shell(i.System)
	}
	program := i.Program
	if i.System == "windows" && shell == integrations.Sh {
		program = strings.ReplaceAll(program, `\`, "/") // which sh would take for escapes
	}
	return Command(shell, program, agent.Name)
}

// Found reports whether an agent is on this machine: its program, or the folder that
// it keeps its settings in.
func (i *Installer) Found(agent *integrations.Agent) bool {
	if agent.Setup.Program != "" {
		if _, err := i.LookPath(agent.Setup.Program); err == nil {
			return true
		}
	}
	path, err := i.SettingsPath(agent, User)
	return err == nil && newFolder(path) == ""
}

// Install plans to put the hooks in. takeOver switches off what LangSmith's own
// plugin would trace as well; without it the plugin's presence is in Plan.Rival, and
// nothing is to change.
func (i *Installer) Install(agent *integrations.Agent, scope Scope, takeOver bool) (Plan, error) {
	path, err := i.SettingsPath(agent, scope)
	if err != nil {
		return i.plan(agent, scope, ""), err
	}
	p := i.plan(agent, scope, path)
	rivals, err := i.rivals(agent, scope)
	if err != nil {
		return p, err
	}
	if len(rivals) > 0 && !takeOver {
		p.State, p.Rival = Failed, rivals[0].Name
		p.Detail = fmt.Sprintf("%s traces it already (switched on in %s), and both would trace every turn twice", rivals[0].Name, rivals[0].path)
		return p, nil
	}
	texts := map[string][]byte{}
	for _, r := range rivals {
		if r.Off == nil {
			p.State, p.Rival = Failed, r.Name
			p.Detail = fmt.Sprintf("%s traces it already: switch it off first: %s", r.Name, r.Undo)
			return p, nil
		}
		if err := i.edit(&p, texts, r.off, r.Off); err != nil {
			return p, err
		}
	}
	command, err := i.Command(agent)
	if err != nil {
		return p, err
	}
	if err := i.edit(&p, texts, path, func(text []byte) ([]byte, error) { return installed(agent, command, text) }); err != nil {
		return p, err
	}
	p.State = Installed
	if len(p.Changes) == 0 {
		p.State = Already
	}
	if trusted, err := i.trusted(agent, path); err != nil || !trusted {
		p.State = NeedsTrust
	}
	return p, nil
}

// Uninstall plans to take the hooks out, and to undo what else install did.
func (i *Installer) Uninstall(agent *integrations.Agent, scope Scope) (Plan, error) {
	path, err := i.SettingsPath(agent, scope)
	if err != nil {
		return i.plan(agent, scope, ""), err
	}
	p := i.plan(agent, scope, path)
	paths := []string{path}
	for _, r := range agent.Setup.Rivals {
		dir, _ := i.base(scope)
		for _, each := range r.Paths(dir, scope == Project, i.Env) {
			if each != path && i.receipts().find(agent.Name, target(each)) != nil {
				paths = append(paths, each)
			}
		}
	}
	for _, each := range paths {
		if err := i.restore(&p, each); err != nil {
			return p, err
		}
	}
	p.State = Removed
	if len(p.Changes) == 0 {
		p.State = Absent
	}
	return p, nil
}

func (i *Installer) plan(agent *integrations.Agent, scope Scope, path string) Plan {
	at := time.Now
	if i.Now != nil {
		at = i.Now
	}
	return Plan{Agent: agent, Scope: scope, Path: path, receipts: i.receipts(), at: at()}
}

func (i *Installer) receipts() receipts { return receipts{i.Receipts} }

// All lists what install has changed and uninstall not restored yet.
func (i *Installer) All() ([]Receipt, error) { return i.receipts().all() }

// edit adds a change of a file to the plan, on top of the one that is there.
func (i *Installer) edit(p *Plan, texts map[string][]byte, path string, change func([]byte) ([]byte, error)) error {
	f, err := readFile(path)
	if err != nil {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	text, changed := texts[f.path]
	if !changed {
		text = f.text
	}
	wanted, err := change(text)
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", path, err)
	}
	if bytes.Equal(wanted, text) {
		return nil
	}
	texts[f.path] = wanted
	receipt, err := i.receipt(p, f, wanted)
	if err != nil {
		return err
	}
	c := Change{
		Path: f.path, Before: f.text, After: wanted, file: f,
		receipt: receipt, folder: receipt.Folder, shared: p.Scope == Project,
	}
	for n := range p.Changes {
		if p.Changes[n].Path == f.path {
			p.Changes[n] = c
			return nil
		}
	}
	p.Changes = append(p.Changes, c)
	return nil
}

// receipt notes what a file was before the first install. After somebody else's
// change that is what it would be without the hooks.
func (i *Installer) receipt(p *Plan, f *file, after []byte) (*Receipt, error) {
	dir := ""
	if p.Scope == Project {
		dir = i.Dir
	}
	r := &Receipt{
		Version: receiptVersion, Agent: p.Agent.Name, Scope: p.Scope, Dir: dir, Path: f.path, At: p.at.UTC(),
		AfterHash: hash(after),
	}
	old := i.receipts().find(p.Agent.Name, f.path)
	switch {
	case old.untouched(f.text):
		r.Created, r.Folder, r.Before = old.Created, old.Folder, old.Before
	case f.exists:
		var err error
		if r.Before, err = i.without(p, f); err != nil {
			return nil, err
		}
		// Of a shim nothing is left without it: there was no such file.
		r.Created, r.Folder = old != nil && old.Created || p.Agent.Setup.Whole && len(f.text) > 0 && len(r.Before) == 0, ""
	default:
		r.Created, r.Folder = true, newFolder(f.path)
	}
	r.BeforeHash = hash(r.Before)
	return r, nil
}

// without is a file's text less the hooks.
func (i *Installer) without(p *Plan, f *file) ([]byte, error) {
	if f.path != target(p.Path) {
		return f.text, nil // another file than that of the hooks
	}
	text, err := p.Agent.Setup.Remove(f.text, Ours(p.Agent.Name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; nothing was changed", f.path, err)
	}
	return text, nil
}

// restore plans to bring a file to what it was.
func (i *Installer) restore(p *Plan, path string) error {
	f, err := readFile(path)
	if err != nil {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	c := Change{Path: f.path, Before: f.text, file: f, shared: p.Scope == Project}
	r := i.receipts().find(p.Agent.Name, f.path)
	if r.untouched(f.text) && f.exists {
		c.After, c.Gone, c.folder = r.Before, r.Created, r.Folder
		p.Changes = append(p.Changes, c)
		return nil
	}
	if c.After, err = i.without(p, f); err != nil {
		return err
	}
	// What install made and others have not filled goes.
	switch {
	case r != nil && r.Created && f.exists && emptyObject(c.After):
		c.Gone, c.folder = true, r.Folder
	case p.Agent.Setup.Whole && f.exists && len(c.After) == 0 && len(f.text) > 0:
		c.Gone = true
	}
	switch {
	case c.Gone || !bytes.Equal(c.After, f.text):
		p.Changes = append(p.Changes, c)
	case r != nil:
		p.stale = append(p.stale, f.path)
	}
	return nil
}

// emptyObject reports whether a text is {} and blanks.
func emptyObject(text []byte) bool {
	fields := bytes.Fields(text)
	return string(bytes.Join(fields, nil)) == "{}"
}

func installed(agent *integrations.Agent, command string, settings []byte) ([]byte, error) {
	ours := Ours(agent.Name)
	settings, err := agent.Setup.Remove(settings, func(found string) bool { return found != command && ours(found) })
	if err != nil {
		return nil, err
	}
	return agent.Setup.Add(settings, agent.Hooks, command)
}

// trusted asks whether the agent will run the hooks of its settings.
func (i *Installer) trusted(agent *integrations.Agent, path string) (bool, error) {
	if agent.Setup.Trusted == nil {
		return true, nil
	}
	read := func(path string) ([]byte, error) {
		f, err := readFile(path)
		if err != nil {
			return nil, err
		}
		return f.text, nil
	}
	ok, err := agent.Setup.Trusted(path, read)
	if real := resolve(path); err == nil && !ok && real != path { // an agent may know its folder by another name
		return agent.Setup.Trusted(real, read)
	}
	return ok, err
}
