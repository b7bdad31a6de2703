// Package journal keeps what hooks recorded until it is delivered: one
// append-only file of JSON lines for each session, and beside it the drainer's
// checkpoints. It is the only package that knows the layout on disk:
//
//	v1/                                the format's version; other versions are left alone
//	  sessions/AGENT/HASH/
//	    journal.jsonl                  one Entry a line
//	    journal.PID-RANDOM.jsonl       written by hooks that could not have the lock
//	    append.lock  drain.lock        separate files: Windows locks are mandatory
//	    checkpoint.DESTINATION.json    one rename is the commit
//	  tombstones/AGENT/HASH.json       what outlives a removed session
//	  destinations/DESTINATION.json    when it was configured, how it fares
//	  dead/DESTINATION/                runs that the destination refused for good
//	  sent/                            copies of requests that were accepted
//	  dropped.jsonl                    counts of what was lost, by reason
//	  log/                             what happened, never what was said
//
// Beside them others keep store/, relay/, serve/ and receipts/. Hooks append and
// nothing else; the drainer owns all other files. Directories are 0700, files
// 0600, symbolic links and directories of other users are refused (see package
// private). Nothing here is slow to import: the hook links it.
package journal
