// Package cursor traces Cursor, the editor and its command line agent: hooks are the
// only source of what happened and when, so the journal carries content. Cursor's own
// transcript adds what no hook tells: what the model said between tools, why a model
// call failed, the prompt of print mode, and which subagent a conversation belongs to.
//
// The facts this package rests on are documented, or were captured with Cursor 3.7:
//
//   - no payload has a time: the hook's own clock stands;
//   - a turn is a generation of a conversation; sessionStart may come after its first
//     prompt, and bears no generation;
//   - the token counts of afterAgentResponse and of stop are the same ones, of the whole
//     turn, and the input holds what was read from and written to the cache;
//   - durations of tools are milliseconds; a tool_use_id may be empty or hold a newline;
//   - a shell's exit code and an MCP server's error arrive as success;
//   - a subagent's tools come under a conversation of their own, which names no parent;
//     the call that started it never reports its own end, subagentStop is it;
//   - print mode (-p) tells of tools and of the session's end only;
//   - each hook is a process of its own, so that what ends something may be overtaken by
//     what follows;
//   - a prompt that Cursor submits once more, to another model, has a new generation,
//     and the old one ends later as aborted.
//
// All conversations of a workspace share one journal: only together do they say whose a
// subagent is.
//
// Cursor also runs the hooks in Claude Code's settings. Such a payload is claimed from
// there, and what arrives twice counts once.
//
// A single event name that it does not know makes some builds of Cursor ignore the
// whole table of hooks, so that install registers long-standing names only. preCompact
// is understood where somebody registers it by hand.
package cursor
