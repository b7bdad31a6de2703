// Package spawn starts a drainer that outlives the hook that wants it. It is
// apart from package drain so that a hook can start what it need not link.
package spawn
