//go:build !linux

package relay

import "net"

// ownerOf cannot tell here: what a killed client leaves open is closed when its thread
// goes on.
func ownerOf(_, _ *net.TCPAddr) int { return 0 }
