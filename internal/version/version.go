// Package version holds the one number this build calls itself by.
package version

// Version is Tracesmith's own version, without a leading v. A release sets it
// with -ldflags "-X github.com/tracesmith/tracesmith/internal/version.Version=1.2.3".
var Version = "0.1.0-dev"
