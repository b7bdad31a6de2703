// Package lines reads files that other programs append lines to while we look:
// from a position, up to a size noted before, and never more than a bounded line
// in memory.
package lines
