// Package relay is a LangSmith endpoint on loopback that stands between Deep Agents
// Code and LangSmith.
//
// Deep Agents Code traces itself, incompletely: every approval begins another root,
// model calls belong to another integration, turns are counted from 1 after a resume,
// the graph's own machinery is shown, an abort looks like a failure. What it sends
// here is written to a journal before it is answered with 202. From there the drainer
// of package drain takes it as it takes what hooks wrote: a reducer (see [Agent]) folds
// the writes of one turn into runs that keep the contract, and the drainer redacts them,
// delivers them to every destination and commits. A relay that is killed between any two
// steps goes on where it was, and what is sent to it twice counts once.
//
// A write that cannot be read concerns itself alone: it is lost and counted, and does not
// go on as it is; nor does a request that cannot be looked into, for it brings spans or is
// too large, where it comes with the relay's token or speaks of the agent. The model call
// that names a thread is of no turn, and a root by itself.
//
// Every other request, and every other run, goes on to LangSmith as it came: the
// bytes of the body, the headers and the client's own key. The answer is LangSmith's.
package relay
