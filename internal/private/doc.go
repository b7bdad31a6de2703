// Package private makes folders that only their owner can enter, for what agents were
// told must not end up in somebody else's hands. Every folder of the state is made here.
// It is on the way of every hook, so it is quick and imports little.
package private
