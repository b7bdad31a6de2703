package config

import (
	"slices"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Content says how much of the user's work a run carries.
type Content string

// The content levels.
const (
	Full          Content = "full"            // redacted prompts, replies, tool inputs and outputs
	NoToolContent Content = "no-tool-content" // prompts and replies, but nothing that tools were given or gave
	Metadata      Content = "metadata"        // no content at all: names, times, usage, identity
	Nothing       Content = "off"             // no run
)

// contents lists the levels, the least first.
func contents() []Content { return []Content{Nothing, Metadata, NoToolContent, Full} }

// lowers reports whether a level is lower than another.
func (c Content) lowers(other Content) bool {
	return slices.Index(contents(), c) < slices.Index(contents(), other)
}

// Level is the content level as runs have it.
func (c Config) Level() runtypes.Level {
	switch c.Content {
	case Full:
		return runtypes.LevelFull
	case NoToolContent:
		return runtypes.LevelNoToolContent
	}
	return runtypes.LevelMetadata // also of nothing: such runs are not made
}
