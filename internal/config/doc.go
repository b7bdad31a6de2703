// Package config gathers the settings. Flags beat the environment, which beats the
// project's file, which beats the user's file, which beats the defaults, and each
// value remembers where it came from.
//
// The user's file is tracesmith/config.toml in $XDG_CONFIG_HOME, ~/.config or
// %AppData%. The project's file is .tracesmith.toml in the working directory or a
// folder above it, up to the repository's root. It comes with a clone, so it may
// only lower what is sent (enabled = false, content = "metadata") or add tags and
// metadata: a repository must not be able to redirect a developer's traces.
//
// In the environment the TRACESMITH_ names come first, then LANGSMITH_ and
// LANGCHAIN_ as LangSmith's own tools read them. A blank variable counts as unset.
package config
