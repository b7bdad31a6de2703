// Package road drives recorded sessions down the whole road, from a hook's
// standard input to a server, with real processes: hooks that take their event
// from a pipe, transcripts that grow, drainers that are started by hooks, and an
// agent's process that dies in the end.
package road
