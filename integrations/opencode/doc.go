// Package opencode traces OpenCode (tried with 1.18.33).
//
// OpenCode runs plugins in its own process. Ours is a shim, shim.js, that pipes what
// plugins are told to `tracesmith hook opencode --stream`: the bus events of sessions,
// messages and their parts, each prompt (chat.message) and the moment of each request
// (chat.params). Everything else happens here.
//
// A turn begins with chat.message and its steps are the assistant's messages, each one
// call of the model, that name the prompt as their parent. It ends when its session is
// idle and they are complete, or when the next prompt gets an answer: a prompt that was
// typed while the agent was busy waits for its turn. A subagent is a session of its own,
// whose prompt belongs to the open call of the task tool that names it. One in the background
// goes on when that call and its turn have ended, which waits for it to be whole; what it
// then reports is a prompt, though nobody typed it. What OpenCode
// itself says in the user's name (a compaction, the request to go on after it, a command
// the user ran) begins no turn with a prompt. Copies of messages in a forked session are
// older than the session and have been traced: the turns of a fork count from 1.
//
// Not to be seen: the reply's model as the provider names it, the tokens of title calls,
// and anything after the process was killed. The stream's end says that it was.
//
// OpenCode keeps sessions, messages and parts in an SQLite file, from which the past is
// imported; it holds no moment of a request and nothing of a reply that was cut off.
package opencode
