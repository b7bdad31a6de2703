// Package spool keeps what an exporter.Batcher has accepted in a directory until
// LangSmith has it, so that a crash, a kill or a long outage loses nothing.
//
// A process writes segments of its own, named after it, and holds a lock while it
// lives. What a process leaves behind the next one to open the directory adopts,
// before it sends anything newer. An entry may so be sent twice, never not at all:
// the ids of runs make a repetition harmless.
//
//	NAME.lock       locked while the process lives
//	NAME-1.spool    entries, appended: length, checksum, bytes
//	NAME-1.done     which of them are settled, appended
//
// A segment whose entries are all settled is removed. Entries survive the end of
// a process, whatever ended it, as soon as Put has returned; they are not synced,
// so a power cut may take the newest.
//
// What is found damaged is passed over by rule: an entry cut short ends its
// segment (its writer was killed while writing it, and never said that it was
// kept), and so does one whose checksum is wrong; a settlement cut short does not
// count. All of it is found in Stats.
package spool
