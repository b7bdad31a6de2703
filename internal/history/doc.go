// Package history imports the sessions that an agent has had before Tracesmith was
// there to see them. It finds them in the agent's own files, feeds the events that
// these prove to the same reducer that a drainer uses, and delivers the runs, which
// have the ids that live capture would have given them.
//
// What a destination has already is not sent again: imports and drainers enter every
// delivered trace into the same ledger. An import that was cancelled goes on where
// it was when it is run again, and a session that somebody works on is left to live
// capture.
package history
