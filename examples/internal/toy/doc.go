// Package toy is what the example agents are made of, so that the examples are
// about tracing: a client of Anthropic's Messages API, tools that read, edit and
// run in a temporary repository, and a scripted model for those who have no key.
// Nothing in it knows of tracing but Show, which prints what was traced.
package toy
