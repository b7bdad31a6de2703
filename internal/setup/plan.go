package setup

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
)

// State is how an agent stands after an install, for whoever installs on many
// machines.
type State string

// The states of an install, and the two of an uninstall.
const (
	Installed   State = "installed"    // the hooks were put in
	Already     State = "already"      // they were there
	NeedsTrust  State = "needs_trust"  // they are there, and the agent waits for its user's word
	MissingHost State = "missing_host" // the agent is not on this machine
	Failed      State = "error"
	Removed     State = "removed" // the hooks were taken out
	Absent      State = "absent"  // there were none
)

// Plan is what an install or uninstall would do for one agent.
type Plan struct {
	Agent   *integrations.Agent
	Scope   Scope
	State   State // once it is applied
	Detail  string
	Rival   string // what traces the agent already and keeps the hooks from going in
	Path    string // the agent's settings
	Changes []Change

	receipts receipts
	at       time.Time
	stale    []string // files whose receipts say nothing any more
}

// Change is what happens to one file.
type Change struct {
	Path          string
	Before, After []byte
	Gone          bool // the file goes

	file    *file
	receipt *Receipt // to write; nil: the one that there is goes
	folder  string   // up to which empty folders go with the file
	shared  bool
}

// And is a plan that makes the changes of both, for the same agent.
func (p Plan) And(other Plan) Plan {
	p.Changes = slices.Concat(p.Changes, other.Changes)
	p.stale = slices.Concat(p.stale, other.stale)
	return p
}

// Apply makes the changes, all or none.
func (p Plan) Apply() error {
	for i, c := range p.Changes {
		if err := p.apply(c); err != nil {
			return errors.Join(fmt.Errorf("%w; nothing was changed", err), p.revert(i))
		}
	}
	var failures []error
	for _, path := range p.stale {
		failures = append(failures, p.receipts.drop(p.Agent.Name, path))
	}
	return errors.Join(failures...)
}

// apply makes one change. The receipt is there before the file changes: one that fits
// no file does no harm.
func (p Plan) apply(c Change) error {
	if c.receipt != nil {
		if err := p.receipts.put(*c.receipt); err != nil {
			return err
		}
		return c.file.replace(c.After, c.shared)
	}
	var err error
	if c.Gone {
		err = c.file.remove(c.folder)
	} else {
		err = c.file.replace(c.After, c.shared)
	}
	if err != nil {
		return err
	}
	return p.receipts.drop(p.Agent.Name, c.Path)
}

// revert puts back the first n files after a later one failed.
func (p Plan) revert(n int) error {
	var failures []error
	for _, c := range p.Changes[:n] {
		after := *c.file
		after.text, after.exists = c.After, !c.Gone
		var err error
		if c.file.exists {
			err = after.replace(c.Before, c.shared)
		} else {
			err = after.remove(c.folder)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("setup: put back %s: %w", c.Path, err))
		}
	}
	return errors.Join(failures...)
}
