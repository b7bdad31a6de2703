// Package delivery says how the settings' runs are sent to LangSmith: the same for the
// program's drainer and for agents that trace themselves.
package delivery
