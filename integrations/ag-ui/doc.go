// Package agui reads and writes AG-UI, the protocol by which an agent streams what it
// does to a user interface: events as JSON (server-sent events, lines, an array) or as
// length-prefixed protobuf.
//
// A [Decoder] turns any of the four into [Event] values, a [Normalizer] replaces the
// protocol's short forms (chunks, the retired THINKING events) by the long ones, and an
// [Assembler] puts messages, tool calls and runs together. None of them fails on a bad
// event: what is wrong becomes a [Problem], and the stream goes on.
//
// The facts come from the protocol's Metadata page and its published packages, 1.0.0.
// What follows from them here:
//
//   - metadata keeps its bytes: numbers are never turned into floats, a null under a key
//     is a value, and an empty object stays one when an event is encoded again;
//   - protobuf numbers are doubles, so a large integer that crossed it is no longer exact;
//   - ids are opaque and may be empty, so a field that may be left out is a pointer.
package agui
