// Package capture is the hook's hot path: it takes one event of an agent from
// standard input to a line in the session's journal, and wakes the drainer.
//
// The agent waits for the hook and acts on what it says, so the hook says nothing
// and is quick: [Run] never fails, never panics, prints nothing but the agent's
// fixed reply, gives up after 750 ms, and whatever goes wrong becomes one count
// and one line in the log. It opens no socket and imports no package that could:
// what it links it pays for at every event.
package capture
