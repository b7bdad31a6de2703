// Package langsmith asks LangSmith's API the few questions that commands have: whether
// a key is taken, whether a run has arrived, where its page is. What is sent to
// LangSmith goes by package exporter.
package langsmith
