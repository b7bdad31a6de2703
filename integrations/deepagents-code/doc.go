// Package deepagentscode traces Deep Agents Code (dcode) by its hooks, for people who
// do not send its own LangSmith traces through `tracesmith relay`.
//
// The facts this package rests on were read in the program's source (0.1.57 to 0.2.2)
// and recorded with 0.1.88:
//
//   - hooks of the client cost the agent nothing: the start and the end of a session, a
//     prompt, a notification. Those of the server are interrupts of its graph, each of
//     which is resumed; Stop alone is worth it. PermissionRequest switches the automatic
//     approval off, so it is never registered;
//   - no hook tells of model calls, tokens or tools, and none has a time. Stop's answer
//     is Python's print of a list with some models;
//   - ~/.deepagents/.state/sessions.db, the graph's own checkpoints, holds every message
//     with its tokens, model, tool calls and results, those of subagents too. A checkpoint's
//     id is its time. The transcript beside it holds the texts and, in the id of an answer,
//     when the model was asked; it stands in where the database cannot be read;
//   - a turn that ends well ends with the notification agent_completed, after Stop. After
//     an interrupt or an error no hook runs until the next prompt or the session's end;
//   - SessionStart may bear the id of the first prompt; a resumed session counts its turns
//     anew;
//   - a hook's environment has no variable with KEY, TOKEN, SECRET or PASSWORD in its name.
//
// Where the program traces itself (LANGSMITH_TRACING), be it to LangSmith or to the relay,
// the hooks tell nothing: every turn would be there twice. In ACP mode there are no hooks.
package deepagentscode
