// Package cli is the command line: one file for each command, and [Main], which
// takes the hook's short way before it builds any command tree.
//
// A command is a function from the [app] it runs in to its cobra command, and one
// line in the list of commands. It reads its input, its environment and its clock
// from the app, so that it can be tested without a process.
//
// A command that fails returns an error: one line that says what to do. The exit
// code is 1, or 64 where the command line itself was wrong. It is never 2, which
// several agents read as "block", and a stack trace is never printed.
package cli
