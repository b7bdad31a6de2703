// Command compare runs the same workload through the exporter and through
// LangSmith's own clients, one after the other against the same kind of server on
// loopback, and prints what each cost and how the others compare. Times depend on
// the machine; the ratios are what to read.
//
// The peers come from npm and pip into a cache. One that cannot be had is said to
// be missing.
package main
