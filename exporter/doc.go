// Package exporter delivers runs to LangSmith.
//
// [Client] sends now: Export encodes, compresses, sends, retries and splits, and
// returns when every op is delivered, dropped or handed back. [Batcher] sends
// later: Submit queues without ever blocking, one goroutine drains the queue
// through a Client, Flush waits for what is queued and Shutdown ends it.
//
// # What arrives
//
// A post and a patch of one run that wait together leave as one post. Ops keep
// their order, one request is under way at a time, and a retried request carries
// the same bytes, so a patch never overtakes its post. LangSmith takes every
// write of a run once and answers 409 to a repetition: sending again is always
// safe.
//
// # Who retries
//
// Only Client does. Timeouts, connection errors and the statuses 408, 425, 429
// and 5xx are tried again with growing, jittered pauses, never sooner than the
// server's Retry-After, until Config.MaxElapsed has passed. A request refused as
// malformed (400, 422) is split until the offending op is alone; one refused as
// too large (413) is halved, and a single run that is still too large is
// shortened, marker included. Where the multipart endpoint or the compression
// is refused (404, 415) the client changes over and remembers.
//
// # What is lost
//
// An op that can never arrive goes to Config.OnDrop with a [*DropError] and is
// counted in [Stats]. What may arrive later Client.Export returns; a Batcher,
// which has nowhere to put it, drops it with [ReasonUndelivered].
//
// Runs are redacted before they are encoded, on a copy. A redaction that fails
// drops its run. No content reaches a log.
//
// The wire format is that of LangSmith's runs API
// (https://api.smith.langchain.com/redoc). Feedback is not
// sent: it belongs to whoever judges a run, not to what made it.
package exporter
