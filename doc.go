// Package tracesmith is the module's front page: it holds no code. Tracesmith records
// what a coding agent did in a turn and delivers it to LangSmith as a run tree.
//
// A Go agent starts with integrations/goagent, which opens what is configured, and
// runtypes, whose turns it wraps its loop in:
//
//	go doc github.com/tracesmith/tracesmith/integrations/goagent
//	go doc github.com/tracesmith/tracesmith/runtypes
//
// The other public packages:
//
//   - integrations/anthropic, integrations/openai: model calls that record themselves
//   - integrations/tracehttp: servers that join a trace, and clients that pass it on
//   - exporter: delivery to LangSmith, configured in code
//   - gitinfo: the repository a turn works in
//   - integrations: what an agent that calls hooks must provide
//
// Whole agents are below examples/. The program for agents that call hooks is
// cmd/tracesmith.
package tracesmith
