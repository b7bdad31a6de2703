// Package tracehttp takes traces over HTTP from one program to another: a tool
// server joins the trace of the agent that calls it.
//
// The agent sends requests with [Transport], or calls [Inject]; what the other side
// records goes under the turn, or the tool call, in the request's context. The
// server wraps its handler with [Handler]; what it does for a request is found by
// runtypes.FromContext. The headers are langsmith-trace and baggage, as LangSmith's
// own libraries write and read them.
//
// A trace lives in one project: the agent's, which the headers name.
package tracehttp
