package exporter

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tracesmith/tracesmith/runtypes"
)

// agentID is a DNS label that begins with a letter. Compiling it takes 0.3 ms, and a hook
// would pay that for nothing but linking this package.
var agentID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$`)
})

// environments are those that an agent can have.
var environments = []string{"local", "development", "staging", "production"}

// AgentAddress names one of an agent's environments as LangSmith does, for
// Config.Address: lrn:agents/support/environments/staging. The agent's id is a DNS
// label, and the environment local, development, staging or production, in any
// case.
func AgentAddress(agent, environment string) (string, error) {
	environment = strings.ToLower(environment)
	switch {
	case !agentID().MatchString(agent):
		return "", errors.New("exporter: an agent's id is 1 to 63 of a-z, 0-9 and -, a letter first and no - last")
	case !slices.Contains(environments, environment):
		return "", errors.New("exporter: an agent's environment is local, development, staging or production")
	}
	return "lrn:agents/" + agent + "/environments/" + environment, nil
}

// file says where a run goes that does not say so itself.
func (c *Config) file(w *runtypes.Wire) {
	if w.SessionName != "" {
		return
	}
	w.SessionName, w.Address = c.Project, c.Address
}
