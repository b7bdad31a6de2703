// Command hookbench measures what a hook costs the agent that waits for it: whole
// processes, from standard input to exit, alone and 16 at once, beside an empty Go
// program and `node -e 0` in the same run. Times depend on the machine; the ratios
// are what to read.
package main
