package cli

import (
	"cmp"
	"slices"
	"sync"

	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/runtypes"
)

// maxFolders bounds the folders whose settings are remembered.
const maxFolders = 256

// shaper applies the user's settings to runs. It is safe for concurrent use.
type shaper struct {
	load func(agent, dir string) (config.Config, error)

	mu      sync.Mutex
	byPlace map[[2]string]config.Config // by agent and folder
}

func newShaper(load func(agent, dir string) (config.Config, error)) *shaper {
	return &shaper{load: load, byPlace: map[[2]string]config.Config{}}
}

// shape applies the settings of the folder that the run's turn works in: there a
// project may lower what is sent, and add tags and metadata.
func (s *shaper) shape(run *runtypes.Run) {
	settings := s.in(run.Identity.Integration, run.Identity.WorkingDirectory)
	runtypes.Limit(run, settings.Level()) // first: what the user adds to every run stays
	if project := settings.RunProject(); project != settings.Project && run.Project == "" {
		run.Project = project
	}
	if settings.Project == "" && run.Project == "" {
		run.Project = run.Identity.Integration
	}
	for _, tag := range settings.Tags {
		if !slices.Contains(run.Tags, tag) {
			run.Tags = append(slices.Clone(run.Tags), tag)
		}
	}
	if len(settings.Metadata) > 0 {
		all := make(map[string]any, len(run.Metadata)+len(settings.Metadata))
		for key, value := range settings.Metadata {
			all[key] = value
		}
		for key, value := range run.Metadata { // what is known of the run wins
			all[key] = value
		}
		run.Metadata = all
	}
	if settings.Rules.Run(run) != nil {
		runtypes.StripContent(run)
	}
}

// admits reports whether the settings of a turn's folder send it to a destination.
func (s *shaper) admits(root *runtypes.Run, destination string) bool {
	settings := s.in(root.Identity.Integration, root.Identity.WorkingDirectory)
	return settings.Enabled && settings.Goes(destination)
}

// in returns an agent's settings in a folder. Where they cannot be read no content
// leaves: a project may have asked for that.
func (s *shaper) in(agent, dir string) config.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	place := [2]string{agent, dir}
	settings, ok := s.byPlace[place]
	if ok {
		return settings
	}
	settings, err := s.load(agent, cmp.Or(dir, config.Unknown))
	if err != nil {
		settings = settings.Offline()
		settings.Content = config.Metadata
	}
	if len(s.byPlace) >= maxFolders {
		clear(s.byPlace)
	}
	s.byPlace[place] = settings
	return settings
}
