// Package drain delivers what hooks recorded. A drainer takes a session's lock,
// reads the new lines of its journal and of the agent's own files, folds them
// with the agent's reducer into writes of runs, redacts and exports those, and
// then replaces one checkpoint file: that is the commit. A drainer that dies
// anywhere before it is run again and writes the same runs with the same ids.
//
// Each destination folds the journal by itself with its own checkpoint, so that
// one that is dead or slow never holds up another.
package drain
