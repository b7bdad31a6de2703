// Package tree draws runs as trees of text: a line for each run with its kind,
// name, tokens, duration and error. What a run says is shown as plain text: it
// cannot move the cursor or colour the terminal.
package tree
