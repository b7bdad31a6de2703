// Package runtypes says what a coding agent did as LangSmith runs: the run and
// its five kinds (root, llm, tool, subagent, interrupted), the identity that is
// stamped on every run, token usage, the write operations, and the coding agent
// metadata contract with its validator.
//
// The package does no I/O. Two kinds of caller use it:
//
//   - a Go agent wraps its turn loop with [StartTurn] and hands the runs to a
//     [Sink], such as exporter.Batcher;
//   - a reducer rebuilds turns from recorded history with the builders [Root],
//     [LLM], [Tool], [Subagent] and [Interrupt], giving ids and times itself.
//
// Times are cut to microseconds and written in UTC, as LangSmith stores them.
// Sizes are bytes, token counts are tokens. A [Turn] and its children are safe
// for concurrent use; a [Run] is plain data and is not.
//
// The metadata keys and their tiers are those of LangSmith's published contract
// coding-agent-v1; the wire format is that of its runs API
// (https://api.smith.langchain.com/redoc).
package runtypes
