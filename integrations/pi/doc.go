// Package pi traces Pi (@earendil-works/pi-coding-agent): an extension of ours runs in
// its process and pipes what happens to one long process of Tracesmith's.
//
// The facts this package rests on were recorded with Pi 1.6.0:
//
//   - a user's turn goes from before_agent_start to agent_settled. What Pi calls a turn
//     is one model call with its tools, and agent_end is no end: a retry, a compaction
//     or a queued message starts another run of the agent within the same turn;
//   - messages bear their times, and the session file has the same messages with the
//     same times: from those, ids are made, so that import gives the ids that the stream
//     gave;
//   - a fork's file begins with the entries that it copied: its turns count on from them;
//   - a turn that an extension starts begins with a message whose time the session file
//     has otherwise: its ids are made from the time of the reply;
//   - an interrupt while a tool runs leaves an empty reply that no model gave;
//   - in print mode SIGINT kills at once, as SIGKILL does: the end of the stream is all
//     that tells of it;
//   - a compaction's model calls are not announced; their usage is;
//   - a subagent is a process of its own, which loads the extension too. It is told by
//     its parent's process and hangs under the tool call whose task it was given; the
//     tool's result repeats what it said, which is what there is where its stream is not.
//
// The journal carries the content, since a session need not have a file; the reducer
// keeps references to it.
package pi
