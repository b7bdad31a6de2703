// Package runtypes says what a coding agent did as LangSmith runs: the run and
// its five kinds (root, llm, tool, subagent, interrupted), the identity that is
// stamped on every run, token usage, the write operations, and the coding agent
// metadata contract with its validator.
//
// The package does no I/O. Two kinds of caller use it:
//
//   - a Go agent wraps its turn loop with [RunTurn], [Begin] or [StartTurn] and
//     hands the runs to a [Sink], such as exporter.Batcher or the one that
//     integrations/goagent.Open gives;
//   - a reducer rebuilds turns from recorded history with the builders [Root],
//     [LLM], [Tool], [Subagent], [Chain], [Join] and [Interrupt], giving ids and
//     times itself.
//
// # A turn
//
// A turn is what an agent does for one prompt. It ends by [Turn.End], [Turn.Fail] or
// [Turn.Interrupt], whichever comes first; what is open under it then ends as
// interrupted. Nothing has to be checked: the calls of a turn that has ended, or
// that was never started because the sink is nil, do nothing. The methods of a nil
// *Turn and a nil *Child take a few nanoseconds and allocate nothing of their own;
// where Go has to put an argument into an interface first (a string variable, a
// struct, a slice) that costs what it always costs, and a pointer or a map avoids it.
//
// A turn travels in a context: [NewContext], [FromContext]. [Child.Context] makes
// what is traced in it hang under a tool call. It travels to another program in
// headers, [Inject] and [Extract], and to a process in its environment,
// [ParentFromEnv]; [WithParent] takes it up there.
//
// # Units and bounds
//
// Times are cut to microseconds and written in UTC, as LangSmith stores them.
// Sizes are bytes, token counts are tokens, costs are US dollars. A run keeps
// [MaxAttachments] bytes of files and a thousand events. Inputs and outputs have no
// bound here: a sink has.
//
// # Errors
//
// The methods of a turn return none: a value that has no JSON is replaced by a note
// that says so, and what a sink refuses it counts itself. [Encode] returns a
// [*FieldError]; [Validate] returns what is wrong as data.
//
// # Concurrency
//
// A [Turn] and its children are safe for concurrent use; a [Run] is plain data and
// is not.
//
// The metadata keys and their tiers are those of LangSmith's published contract
// coding-agent-v1; the wire format is that of its runs API
// (https://api.smith.langchain.com/redoc).
package runtypes
