package goagent

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/runtypes"
)

// prepare applies the settings to a copy of each run, and takes secrets out last.
func prepare(project string, settings config.Config) func(*runtypes.Run) error {
	return func(run *runtypes.Run) error {
		runtypes.Limit(run, settings.Level()) // first: what the user adds to every run stays
		run.Project = cmp.Or(run.Project, project, run.Identity.Integration)
		for _, tag := range settings.Tags {
			if !slices.Contains(run.Tags, tag) {
				run.Tags = append(run.Tags, tag)
			}
		}
		if len(settings.Metadata) > 0 {
			own := run.Metadata
			run.Metadata = make(map[string]any, len(own)+len(settings.Metadata))
			for key, value := range settings.Metadata {
				run.Metadata[key] = value
			}
			maps.Copy(run.Metadata, own) // what is known of the run wins
		}
		if err := settings.Rules.Run(run); err != nil || !settings.Redact {
			return err
		}
		return redact.Run(run)
	}
}
