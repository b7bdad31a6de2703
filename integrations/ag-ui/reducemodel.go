package agui

import "github.com/tracesmith/tracesmith/runtypes"

// models is what the model calls of a run tell of each other once it is over.
type models struct {
	labelName, labelProvider string          // of the one entry in the run's usage
	usage                    *runtypes.Usage // of the only model call
	order                    []modelName     // as the calls named them
}

type modelName struct {
	owner, name, provider string
}

// modelsKnown gathers what the calls and the run's end say.
func (t *turn) modelsKnown() models {
	var m models
	calls, counted := 0, false
	for _, c := range t.children {
		if c.kind != runtypes.KindLLM {
			continue
		}
		calls++
		md := t.messageOf(c).Metadata
		counted = counted || usageOf(md) != nil
		if name, provider := modelOf(md); name != "" || provider != "" {
			m.order = append(m.order, modelName{c.owner, name, provider})
		}
	}
	for _, e := range t.ends {
		if len(e.Usage) == 1 {
			m.labelName, m.labelProvider = Text(e.Usage[0].Model), Text(e.Usage[0].Provider)
		}
		if calls == 1 && !counted {
			if u := soleUsage(e); u != nil {
				m.usage = u
			}
		}
	}
	return m
}

// fillModel completes what a model call does not say of itself: by the one entry of the
// run's usage, else by the calls that do. The last is a guess, as a run has one model
// more often than two, and says so: the contract wants a key that one run of a trace has
// on all of its kind.
func (t *turn) fillModel(c *child, run *runtypes.Run, own facts) {
	if !t.settling {
		return
	}
	m := &t.models
	if run.Usage == nil {
		run.Usage = m.usage
	}
	if run.Model.Name == "" {
		run.Model.Name = m.labelName
	}
	if run.Model.Provider == "" {
		run.Model.Provider = m.labelProvider
	}
	var guessed []string
	if run.Model.Name == "" {
		run.Model.Name = m.guess(func(n modelName) string { return n.name }, c.owner, "")
		guessed = appendIf(guessed, run.Model.Name, "ls_model_name")
	}
	if run.Model.Provider == "" {
		run.Model.Provider = m.guess(func(n modelName) string { return n.provider }, c.owner, run.Model.Name)
		guessed = appendIf(guessed, run.Model.Provider, "ls_provider")
	}
	if len(guessed) > 0 {
		own["inferred"] = guessed
	}
}

func appendIf(list []string, value, key string) []string {
	if value == "" {
		return list
	}
	return append(list, key)
}

// guess returns what another call says: of the same model if it is given, of the same
// owner, or else any.
func (m *models) guess(of func(modelName) string, owner, model string) string {
	for _, fits := range []func(modelName) bool{
		func(n modelName) bool { return model != "" && n.name == model },
		func(n modelName) bool { return n.owner == owner },
		func(modelName) bool { return true },
	} {
		for _, n := range m.order {
			if value := of(n); value != "" && fits(n) {
				return value
			}
		}
	}
	return ""
}
