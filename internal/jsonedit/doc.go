// Package jsonedit changes a JSON file that belongs to somebody else: it adds and
// removes single elements and leaves every other byte as it is. Order, blanks,
// unknown keys, line ends and a byte order mark survive, and what [Tree.Insert]
// put in [Tree.Delete] takes out without a trace.
package jsonedit
