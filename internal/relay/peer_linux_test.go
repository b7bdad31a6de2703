package relay

// peersAreKnown says that the system tells who a connection's client is.
const peersAreKnown = true
