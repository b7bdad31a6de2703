// Command sim plays a day of a company whose machines share one LangSmith key and its
// limits: when turns arrive, how many requests are refused, whom the limits hit. It is a
// discrete-event simulation: the policy is the one that the exporter and the drainer use
// (package patience), the work, the network and the server are models. The same seed
// gives the same table.
//
// The server is modelled on what LangSmith documents: 6,000 requests in ten seconds of
// one key, and so many events and bytes in an hour, where a create and an update are an
// event each. What it does not document is assumed: windows start with the hour and the
// tenth second, a refused request counts among the requests but not among the events,
// and no refusal says when to come again.
package main
