// Package ingest is a server that speaks LangSmith's run ingestion protocol on
// loopback: GET /info, POST /runs/multipart, POST /runs/batch, POST /runs and
// PATCH /runs/{id}, at the root and below /api/v1.
//
// It refuses what LangSmith refuses and, where LangSmith does, for the whole
// request: 400 for a dotted order that disagrees with its run, 401 for a wrong
// key, 409 for what was already received, 413, 415, and 422 for framing, JSON
// and shapes. Where LangSmith's behaviour is not documented it takes the
// strictest reading, because whoever survives that survives the others.
//
// A [Handler] checks and hands on to a [Sink]; a [Server] adds the loopback
// listener. [Memory] is a Sink for tests, internal/store one that lasts. A
// script of [Fault] values makes the server misbehave the way real deployments
// do. All of it is safe for concurrent use.
//
// Attachments, feedback and fields a run tree does not show (serialized,
// reference_example_id) are checked, counted in [Stats.Dropped] and let go.
package ingest
