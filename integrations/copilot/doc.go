// Package copilot traces GitHub Copilot CLI: its hooks say that something happened,
// its session log says what.
//
// The facts this package rests on were recorded with Copilot CLI 1.0.102, and 1.0.70
// for the older shapes of the log:
//
//   - $COPILOT_HOME/session-state/<session>/events.jsonl holds a session from its first
//     prompt on, over every resume. Lines of a subagent stand between the others and
//     bear its id. The file is written some 100 ms late, so a hook may run before what
//     it tells of is there; the log's own line of that hook says when it is;
//   - a conversation that is taken back to an earlier prompt has its log cut off there;
//   - a turn is a user.message and everything of its interaction: steering joins it. A
//     prompt that a blocked agentStop hook made joins it too, under another interaction;
//   - a turn ends with the agentStop hook, by an abort, by a session.error, or with the
//     process. After an interrupt no hook runs, and sessionEnd says "complete" then;
//   - a background subagent that is done wakes the agent, under the old interaction and
//     after the end of its turn: that is a root of its own, which continues the turn;
//   - no hook names a tool call, a model or tokens. Older versions log no usage.
//
// A hook that fails may deny a tool, so none of those that decide is registered.
// What is told is a function of the log alone; a hook adds where HEAD stood.
package copilot
