package exporter

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind or talks to anything but this machine.
func TestMain(m *testing.M) {
	http.DefaultTransport.(*http.Transport).Proxy = nil
	http.DefaultTransport.(*http.Transport).DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		host, _, _ := net.SplitHostPort(addr)
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			return nil, fmt.Errorf("test dials %s", addr)
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	goleak.VerifyTestMain(m)
}
