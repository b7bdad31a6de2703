// Package config gathers the settings. Flags beat the environment, which beats the
// project's file, which beats the user's file, which beats what LangSmith's own tools
// have stored, which beats the defaults, and each value remembers where it came from.
//
// The user's file is tracesmith/config.toml in $XDG_CONFIG_HOME, ~/.config or
// %AppData%. The project's file is .tracesmith.toml in the working directory or a
// folder above it, up to the repository's root. It comes with a clone, so it may
// only lower what is sent (enabled = false, content = "metadata") or add tags and
// metadata: a repository must not be able to redirect a developer's traces.
//
// Whoever comes from LangSmith's plugins for coding agents need not change anything:
// their langsmith.json and langsmith-plugins.json are read (a project's as our own),
// and so is the profile of LangSmith's command line, which is never written.
//
// In the environment the TRACESMITH_ names come first, then those of LangSmith's
// plugin for the agent at hand (CC_LANGSMITH_, LANGSMITH_CODEX_ and so on), then
// LANGSMITH_ and LANGCHAIN_ as all of LangSmith's tools read them. A blank variable
// counts as unset.
package config
