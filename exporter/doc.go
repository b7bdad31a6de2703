// Package exporter delivers runs to LangSmith.
//
// [Client] sends now: Export encodes, compresses, sends, retries and splits, and
// returns when every op is delivered, dropped or handed back. [Batcher] sends
// later: Submit queues without ever blocking, senders drain the queue through a
// Client, Flush waits for what is queued and Shutdown ends it. [ConfigFromEnv]
// reads the variables of LangSmith's own clients; package profile reads what
// "langsmith login" has stored.
//
// # What arrives
//
// A post and a patch of one run that wait together leave as one post. A few
// requests are under way at a time, but never two with runs of one trace, and a
// retried request carries the same bytes, so a patch never overtakes its post.
// LangSmith takes every write of a run once and answers 409 to a repetition:
// sending again is always safe. What the wire cannot hold (bad UTF-8, inputs that
// are no object, an end before the start, a child before its parent) is repaired; a
// run that cannot be is dropped alone, with a *runtypes.FieldError that names run
// and field. A dotted order that disagrees with its run's ids is such a fault.
//
// # Who retries
//
// Only Client does. Timeouts, connection errors and the statuses 408, 425, 429 and
// 5xx are tried again with growing, jittered pauses, never sooner than the
// server's Retry-After, until Config.MaxElapsed has passed; a 429 holds back all
// requests. A request refused as malformed (400, 422) is split until the offending
// op is alone; one refused as too large (413) is halved, and a single run that is
// still too large is shortened, marker included. One that takes too long is sent
// in parts, and the next are built smaller until they get through. Where the
// multipart endpoint or the compression (zstd, then gzip) is refused (404, 415)
// the client changes over and remembers.
//
// # What is lost
//
// An op that can never arrive goes to Config.OnDrop with a [*DropError] and is
// counted in [Stats]. What may arrive later Client.Export returns. A Batcher drops
// it with [ReasonUndelivered], unless it has a [Spool]: then it is tried again
// until it arrives, by this process or, if that ends first in whatever way, by the
// next to open the spool. Package spool has one in a directory. A patch whose post
// was dropped takes its place.
//
// # Where it goes
//
// Config.Replicas sends the same runs to several destinations, each with a queue
// and senders of its own, so that a dead one delays no other. Config.Address files
// runs under an agent in place of a project. Config.Sampling
// keeps a part of the traces, and the Hide fields leave out content, both as
// LangSmith's own clients do.
//
// Runs are redacted before they are encoded, on a copy. A redaction that fails
// drops its run. Attachments are sent as they are. No content reaches a log.
//
// The wire format is that of LangSmith's runs API
// (https://api.smith.langchain.com/redoc). Feedback is not sent: it belongs to
// whoever judges a run, not to what made it.
package exporter
