// Package integrations says what Tracesmith must know about a coding agent:
// data and pure functions, gathered in an [Agent] value. Each agent is a folder
// of its own below this one; internal/agents holds the list of them.
//
// # From a hook to runs
//
// The agent calls `tracesmith hook NAME` for the events in [Agent.Hooks]. The
// hook process runs [Agent.Peek] and [Agent.Project] on what it got and appends
// one line to the session's journal. Later the drainer, another process, feeds
// the journal's lines as [Event] values to the agent's [Reducer], which reads the
// agent's own files through a [Source] and returns the runs that are final.
//
// # What a reducer must promise
//
// A drainer may die at any moment and be started again on an older checkpoint,
// and it may see the agent's files long after the hooks or while they grow. So:
//
//   - Apply is deterministic: no clock, no disk but the Source, no map order.
//   - The reducer round-trips through encoding/json at every event: that is the
//     checkpoint. It keeps references (path and offset), not content, and stays
//     under 64 KiB. Unexported fields may cache what the Source can give again.
//   - Ids come from idgen.Run. The final state of every run is the same wherever
//     the passes of the drainer fell: a run is emitted only when nothing that may
//     still come can change it, and it is posted at most once and patched at most
//     once.
//   - Unknown events, fields and versions are skipped, never fatal.
//
// To keep the third promise a reducer may rely on this order. Within a pass the
// drainer notes the sizes of the files in [Status.Watch], then reads the journal
// to its end and applies the new lines, each with a Source that ends at those
// sizes, and applies one [Grew] at the end if any of those files has new lines.
// So when Grew is applied, every synchronous hook that ran before a visible line
// was written has already been applied; when a hook's own event is applied, later
// hooks may still be missing even if the files already show what followed them.
package integrations
