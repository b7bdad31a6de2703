// Package patience says how long to leave a server alone after it failed. The
// exporter asks it between the attempts of one request, the drainer between the lives
// of its processes, and the simulation of a fleet does as they do. It takes no time
// and draws no numbers of its own. A value is for one goroutine.
package patience
