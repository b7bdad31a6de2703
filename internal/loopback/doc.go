// Package loopback keeps services on this machine to those who may use them. Anybody here
// can connect to a port, and so can a web page in somebody's browser: by posting to it, or
// by a name of its own that it has resolve to this machine. So each service looks at the
// Host of a request, and at a token where its clients can show one.
package loopback
