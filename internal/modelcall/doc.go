// Package modelcall watches calls of a model's API on their way over HTTP and
// records each as a model call of the turn in the request's context. What a
// provider's wire format means is told by an [API]; this package reads bodies as
// the client reads them, takes streams apart, and knows when a call has ended.
//
// The client sees what it would see without it: the same bytes at the same time,
// and the same errors. A body that is too large, or in a form nobody knows, is
// passed on all the same, and the run says what is missing.
package modelcall
