package exporter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestDeliveriesSideBySideEachSayWhatTheyLost(t *testing.T) {
	const most = 1000 // bytes of a request
	spoiled, huge, fine := ended(1), ended(2), ended(3)
	spoiled.Name = "spoiled"
	huge.Outputs = json.RawMessage(fmt.Sprintf(`{"text":"%s"}`, strings.Repeat("so ", 20*most)))
	lost := make(chan struct{})
	var once sync.Once
	cfg := config(roundTrip(func(r *http.Request) (*http.Response, error) {
		var body []byte
		if r.Body != nil {
			var err error
			if body, err = io.ReadAll(r.Body); err != nil {
				return nil, err
			}
		}
		status := http.StatusAccepted
		switch {
		case bytes.Contains(body, []byte("spoiled")):
			status = http.StatusUnprocessableEntity
			once.Do(func() { close(lost) })
		case bytes.Contains(body, []byte("so so so")) && len(body) > 10*most:
			status = http.StatusRequestEntityTooLarge
		case len(body) > 0:
			<-lost
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
	}), &drops{})
	cfg.InFlight, cfg.NoCompression = 3, true
	c := newTestClient(t, cfg)
	got := make([]Receipt, 3)
	var group sync.WaitGroup
	for i, run := range []*runtypes.Run{spoiled, huge, fine} {
		group.Go(func() {
			r, err := c.Deliver(t.Context(), []runtypes.Op{post(run)})
			if err != nil {
				t.Error(err)
			}
			got[i] = r
		})
	}
	group.Wait()
	want := []Receipt{{Dropped: []runtypes.Op{post(spoiled)}}, {Shortened: 1}, {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestARunThatWasCutDownInVainIsDroppedAndNotShortened(t *testing.T) {
	run := ended(1)
	run.Outputs = json.RawMessage(fmt.Sprintf(`{"text":"%s"}`, strings.Repeat("so ", 10_000)))
	s := newLangsmith(t)
	s.script(func(int, call) *reply { return status(413) })
	c := newTestClient(t, config(s, &drops{}))
	got, err := c.Deliver(t.Context(), []runtypes.Op{post(run)})
	if err != nil || len(got.Dropped) != 1 || got.Shortened != 0 || c.Stats().Shortened != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
