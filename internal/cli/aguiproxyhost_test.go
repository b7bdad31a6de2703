package cli

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/tracesmith/tracesmith/integrations/ag-ui/aguitrace"
)

// The agent sees its own name in Host, so that only the proxy can see a page's.
func TestTheProxyRefusesRequestsUnderANameThatIsNotThisMachines(t *testing.T) {
	asked := 0
	agent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer agent.Close()
	target, err := url.Parse(agent.URL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- servePassing(ctx, listener, aguitrace.New(nil, aguitrace.Options{}).Proxy(target), []string{"agent"})
	}()
	for host, want := range map[string]int{"": 200, "localhost:8123": 200, "agent:8123": 200, "rebound.example": 403, "192.0.2.1": 403} {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+listener.Addr().String(), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Host, req.Close = host, true
		res, err := (&http.Transport{}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, res.StatusCode, want)
		}
	}
	stop()
	if err := <-done; err != nil || asked != 3 {
		t.Errorf("%v, the agent was asked %d times", err, asked)
	}
}
