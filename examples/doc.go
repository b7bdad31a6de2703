// Package examples holds programs that show how agents are traced: agents in Go,
// which are packages below this one and run as they stand, and hooks, which are
// scripts and settings for agents that are not. Its tests run all of them.
package examples
