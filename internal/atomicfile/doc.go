// Package atomicfile replaces small files whole: a reader sees the old content
// or the new one, never a part, and a crash leaves one of the two.
package atomicfile
