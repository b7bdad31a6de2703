// Package goagent traces a Go agent with what is configured already: it reads
// the settings that the tracesmith program reads, sends to LangSmith if there is a
// key, and keeps runs in the local store that `tracesmith show` prints.
//
//	tracer, err := goagent.Open(ctx, goagent.Config{Integration: "my-agent", Runtime: "My Agent"})
//	…
//	defer tracer.Close(context.WithoutCancel(ctx))
//
//	ctx, turn := runtypes.Begin(ctx, tracer.Sink(), tracer.Identity(ctx, dir, conversation), prompt)
//	defer turn.Guard(ctx)
//	call := turn.LLM("claude-opus-4-5", messages)
//	…
//	call.Usage(usage).End(reply)
//	tool := turn.Tool("bash", callID, args)
//	…
//	tool.Done(output, err)
//	turn.End(answer)
//
// See examples/ for whole agents.
//
// The other packages can be used without this one:
//
//   - runtypes: turns, runs, usage, the metadata contract and its validator, and
//     headers that take a trace to another program;
//   - exporter: delivery to LangSmith and nothing else, configured in code;
//   - gitinfo: the repository a turn works in;
//   - integrations/anthropic, integrations/openai: model calls that record
//     themselves, under any SDK;
//   - integrations/tracehttp: servers that join a trace, and clients that pass it on.
package goagent
