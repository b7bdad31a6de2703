// Package idgen derives the names LangSmith knows a run by: its id and its
// dotted order.
//
// Ids are derived, never drawn, so that the same history gives the same ids
// whichever path it came by (hooks, import, relay) and however often it is
// replayed. The golden vectors in testdata guard the derivation: it never
// changes within a major version.
package idgen
