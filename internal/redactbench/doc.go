// Command redactbench measures redaction: how many planted secrets it finds, of which
// kinds, how often it takes for a secret what is none, and how fast it is. The secrets
// are drawn anew for each plant, from a seed, and put into transcripts as agents write
// them; the benign texts are this repository's sources and recordings, and generated
// lock files, logs, manifests, minified code and prose.
//
// It exits 1 if recall or precision misses its goal. Speed depends on the machine and
// is only told.
package main
