// Package store keeps runs in one embedded SQLite file, so that they can be
// looked at with and without a LangSmith key.
//
// It is a destination like any other: [Store.Export] has the signature of
// exporter.Client.Export, and [Store.Fresh] and [Store.Apply] make it the sink
// of a protocol server. Writing is idempotent: a post or patch that the store
// already has changes nothing and is no error, so a replay is harmless.
//
// Several processes may have the file open. Writes queue behind one another for
// up to the busy timeout; readers never wait. The file is 0600 in a directory of
// its own, 0700, and symbolic links are refused. A file that is not the store's,
// is damaged, or was written by a newer version is left as it is.
//
// The store is bounded in bytes and in age. Whole traces go, those first that
// were written to longest ago, and they are counted.
package store
