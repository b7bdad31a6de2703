package drain

import "github.com/tracesmith/tracesmith/runtypes"

// StripContent leaves of a run what says that something happened, not what was
// said: no inputs and outputs, no error text, no data of its events.
func StripContent(run *runtypes.Run) {
	run.Inputs, run.Outputs = nil, nil
	run.Identity.MetadataOnly = true
	if run.Error != "" && !run.Interrupted {
		run.Error = "error"
	}
	events := make([]runtypes.RunEvent, len(run.Events))
	for i, e := range run.Events {
		events[i] = runtypes.RunEvent{Name: e.Name, Time: e.Time}
	}
	run.Events = events
}
