// Package doctor finds out why nothing arrives, and says what to do about it.
//
// It looks at what a trace passes on its way: the agent and its hooks, the settings,
// the state directory, the network layer by layer, and LangSmith, to which it sends a
// test run. Every [Line] of its [Report] that is a problem names the layer and the fix.
// Keys are shown by their last four characters at most.
package doctor
