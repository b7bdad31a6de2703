// Package shimfile registers the hooks of agents that run JavaScript in their own
// process: what install writes is no entry in somebody's settings but a whole file, the
// agent's shim, which holds one command.
package shimfile
