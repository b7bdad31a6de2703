package drain

import (
	"slices"
	"strings"
	"testing"
)

// What takes no run that is under way gets each once, whole, although others watch the
// same turn live.
func TestADestinationMayTakeRunsOnceTheyHaveEnded(t *testing.T) {
	b := newBench(t)
	live, ended := b.server.destination("one"), newServer()
	spans := ended.destination("spans")
	spans.Ended = true
	b.cfg.Destinations = []Destination{live, spans}
	for _, hook := range story(b) {
		hook()
		b.mustDrain()
	}
	if !slices.ContainsFunc(b.server.order, func(op string) bool { return strings.HasPrefix(op, "patch") }) {
		t.Error("the other was not sent live")
	}
	for _, op := range ended.order {
		if strings.HasPrefix(op, "patch") {
			t.Errorf("a patch was sent: %v", ended.order)
		}
	}
	if got := ended.state(); !slices.Equal(got, whole(t)) {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
}
