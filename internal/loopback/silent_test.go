package loopback

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestAServerEndsAtOnceThoughAConnectionIsSilent(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-answer
	}))
	CutSilent(s.Config)
	listener := s.Listener
	go func() { _ = s.Config.Serve(listener) }()

	silent, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	status := make(chan int, 1)
	go func() {
		resp, err := http.Get("http://" + listener.Addr().String())
		if err != nil {
			status <- 0
			return
		}
		resp.Body.Close()
		status <- resp.StatusCode
	}()
	<-asked

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.Config.Shutdown(ctx) }()
	_ = silent.SetReadDeadline(time.Now().Add(3 * time.Second))
	if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the silent connection is still there: %v", err)
	}
	close(answer)
	if err := <-ended; err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if got := <-status; got != http.StatusOK {
		t.Errorf("the request under way was answered with %d", got)
	}
}
