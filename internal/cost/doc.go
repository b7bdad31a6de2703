// Command cost prints what 1,000 turns cost at LangSmith: events, of which a create and an
// update are one each, and bytes before and after compression. It plays the recordings
// of the named agents through their reducers and the exporter's client into a server that
// counts and keeps nothing. A recording is a short session of made-up work: the ratios
// between the levels and the kinds of inputs are what to read.
//
// Events where runs can be watched live are counted as for a drainer that looks after
// every event of the agent's, which is the most that there can be.
package main
