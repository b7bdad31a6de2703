package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// policy is what whoever manages the machine says. See [PolicyFile].
type policy struct {
	path                     string
	defaults, locked, floors map[string]any
	routes                   []route
}

// PolicyFile is where the managed policy is, or would be: a place that only an
// administrator can write to. A file that TRACESMITH_POLICY names counts only where
// there is none, so that nobody can put another one in its place.
func PolicyFile(env func(string) string) string {
	return policyOf(systemPolicy(), env("TRACESMITH_POLICY"))
}

func policyOf(system, own string) string {
	if filepath.IsAbs(own) {
		if _, err := os.Lstat(system); errors.Is(err, fs.ErrNotExist) {
			return own
		}
	}
	return system
}

// readPolicy reads the policy; the zero value if there is none. The machine's is not read
// if others than root can change it.
func readPolicy(path string) (policy, error) {
	p := policy{path: path}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if path == systemPolicy() {
		if err := closed(path, 0); err != nil {
			return policy{}, fmt.Errorf("config: policy: %w", err)
		}
	}
	text, err := readFile(path, maxFile) // a link that leads nowhere is no missing policy
	if err != nil {
		return policy{}, err
	}
	doc, err := decode(path, text)
	if err != nil {
		return policy{}, err
	}
	for _, key := range slices.Sorted(maps.Keys(doc)) {
		table, isTable := doc[key].(map[string]any)
		switch {
		case key == "defaults" && isTable:
			p.defaults = table
		case key == "locked" && isTable:
			p.locked = table
		case key == "floors" && isTable:
			p.floors = table
		case key == "routes":
			if p.routes, err = routesFrom(doc[key]); err != nil {
				return policy{}, fmt.Errorf("config: %s: %w", path, err)
			}
		default:
			return policy{}, fmt.Errorf("config: %s: %s is neither defaults, locked, floors nor routes", path, key)
		}
	}
	return p, nil
}

// suggest applies what the policy leaves to everybody to change.
func (p policy) suggest(l *loader) {
	for _, key := range slices.Sorted(maps.Keys(p.defaults)) {
		if key == "api_key_command" {
			l.keyCommand(p.defaults[key], p.path+" [defaults]")
			continue
		}
		l.value(key, p.defaults[key], p.path+" [defaults]")
	}
}

// enforce applies what nobody may change. Whatever of it cannot be applied leaves
// nothing to be sent.
func (p policy) enforce(l *loader) {
	before, ignored := len(l.errs), len(l.cfg.Ignored)
	l.route(p.routes, p.path+" [[routes]]", true)
	for _, key := range slices.Sorted(maps.Keys(p.locked)) {
		switch key {
		case "redact_extra_rules":
			p.lockRules(l, p.locked[key])
			continue
		case "api_key_command":
			l.keyCommand(p.locked[key], p.path+" [locked]")
			continue
		}
		l.lock(key, p.locked[key], p.path+" [locked]")
	}
	for _, key := range slices.Sorted(maps.Keys(p.floors)) {
		if err := l.floor(key, p.floors[key], p.path+" [floors]"); err != nil {
			l.errs = append(l.errs, fmt.Errorf("config: %s [floors]: %s: %w", p.path, key, err))
		}
	}
	if len(l.errs) > before || len(l.cfg.Ignored) > ignored {
		l.shut(p.path)
	}
	p.confineOTLP(l)
	p.confine(l)
	p.insist(l)
}

// Locked reports whether the policy decides on a setting.
func (c Config) Locked(key string) bool { return slices.Contains(c.locked, key) }

// lock sets what a policy says. Nothing at all is a value, too: a file of the user's may
// say something.
func (l *loader) lock(key string, value any, by string) {
	l.cfg.locked = append(l.cfg.locked, key)
	if key == "project" {
		l.cfg.routed = ""
	}
	if text, ok := value.(string); ok && clean(text) == "" {
		l.set(key, "", by)
		return
	}
	l.value(key, value, by)
}

// confine leaves out the user's replicas that go elsewhere than what is locked.
func (p policy) confine(l *loader) {
	if _, own := p.locked["replicas"]; own || len(l.cfg.Replicas) == 0 {
		return
	}
	locks := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { _, is := p.locked[key]; return is })
	}
	strays := func(r Replica) bool {
		return locks("endpoint") && r.Endpoint != "" && r.Endpoint != l.cfg.Endpoint ||
			locks("workspace_id") && r.WorkspaceID != "" && r.WorkspaceID != l.cfg.WorkspaceID ||
			locks("project") && r.Project != "" && r.Project != l.cfg.Project ||
			locks(keySources()...) && r.Key() != (Key{})
	}
	kept := slices.DeleteFunc(slices.Clone(l.cfg.Replicas), strays)
	if len(kept) < len(l.cfg.Replicas) {
		l.ignore("replicas", l.cfg.Source("replicas"), "the policy locks where runs go")
		l.cfg.Replicas = kept
		l.cfg.source("replicas", p.path+" [locked]")
	}
}

// insist leaves out what would leave secrets in where the policy wants them out.
func (p policy) insist(l *loader) {
	if p.floors["redact"] != true && p.locked["redact"] != true || len(l.cfg.Allow) == 0 {
		return
	}
	if from := l.cfg.Source("redact_allow"); !strings.HasPrefix(from, p.path+" [") {
		l.ignore("redact_allow", from, "the policy wants secrets taken out")
		l.cfg.Allow = nil
		l.cfg.source("redact_allow", p.path)
		if own, is := p.defaults["redact_allow"]; is {
			l.value("redact_allow", own, p.path+" [defaults]")
		}
	}
}

// lockRules puts the policy's rules before the user's own, which stay.
func (p policy) lockRules(l *loader, value any) {
	list, ok := value.([]any)
	if !ok {
		l.errs = append(l.errs, fmt.Errorf("config: %s: redact_extra_rules: want a list of tables", p.path))
		return
	}
	found, err := rulesFrom(list)
	if err != nil {
		l.cfg.setRules(nil, err)
		return
	}
	l.cfg.Rules = append(slices.Clone(found), l.cfg.Rules...)
	l.cfg.source("redact_extra_rules", p.path+" [locked]")
}

// floor lowers what is sent to at most what the policy allows.
func (l *loader) floor(key string, value any, by string) error {
	switch key {
	case "content":
		most := Content(strings.ToLower(asText(value)))
		if !slices.Contains(contents(), most) {
			return fmt.Errorf("want one of %q", contents())
		}
		if most.lowers(l.cfg.Content) {
			l.cfg.Content = most
			l.cfg.source(key, by)
		}
		return nil
	case "redact", "hide_inputs", "hide_outputs", "hide_metadata", "scrub_paths":
		if value != true {
			return errors.New("want true")
		}
		f, _ := fieldOf(key)
		if f.text(&l.cfg) != "true" {
			l.set(key, "true", by)
		}
		return nil
	}
	return errors.New("no setting that has a floor")
}

// shut lets nothing leave: the policy is there and cannot be followed.
func (l *loader) shut(by string) {
	l.cfg = l.cfg.Offline()
	if Metadata.lowers(l.cfg.Content) {
		l.cfg.Content = Metadata
		l.cfg.source("content", by)
	}
	l.cfg.source("api_key", by)
}
