// Package procid names a process so that its end can be told from a reused pid:
// beside the pid stand when it started and which boot of which system that pid
// counts in. The hook notes it of the agent's process, and the drainer, perhaps
// days later, asks whether that very process is gone.
package procid
