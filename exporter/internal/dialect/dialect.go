// Package dialect is what package exporter has to know of a server that is no LangSmith.
package dialect

import "github.com/tracesmith/tracesmith/runtypes"

// Dialect is what such a server takes. Each run comes whole: it has ended, and is
// written once. Its functions are called by several goroutines at once.
type Dialect struct {
	Path        string // of requests, below the endpoint
	ContentType string // of their bodies
	// Body encodes the runs of one request. An error means that one of them cannot be.
	Body func([]Run) ([]byte, error)
	// Refused reads off an answer of success how many of the runs were not taken.
	Refused func(answer []byte) int
}

// Run is a run on its way.
type Run struct {
	runtypes.Wire
	Files []runtypes.Attachment
}
