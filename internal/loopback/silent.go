package loopback

import (
	"net"
	"net/http"
	"sync"
)

// CutSilent has the Shutdown of a server cut connections on which nothing was asked yet.
// Browsers open such connections ahead of need, and Shutdown waits five seconds for each.
func CutSilent(server *http.Server) {
	var mu sync.Mutex
	silent := map[net.Conn]bool{}
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		if state == http.StateNew {
			silent[conn] = true
		} else {
			delete(silent, conn)
		}
	}
	server.RegisterOnShutdown(func() {
		mu.Lock()
		defer mu.Unlock()
		for conn := range silent {
			_ = conn.Close()
		}
	})
}
