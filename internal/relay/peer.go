package relay

import (
	"context"
	"net"
	"sync"

	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/procid"
)

// withPeer lets a connection's requests ask which process is at its other end. It is
// looked up once, when the first of them does.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, sync.OnceValue(func() journal.Proc {
		client, isTCP := conn.RemoteAddr().(*net.TCPAddr)
		server, alsoTCP := conn.LocalAddr().(*net.TCPAddr)
		if !isTCP || !alsoTCP {
			return journal.Proc{}
		}
		pid := ownerOf(client, server)
		if pid <= 0 {
			return journal.Proc{}
		}
		start, boot := procid.Of(pid)
		if start == "" {
			return journal.Proc{}
		}
		return journal.Proc{PID: pid, Start: start, Boot: boot}
	}))
}
