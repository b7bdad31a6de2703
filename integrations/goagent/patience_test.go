package goagent

import (
	"context"
	"testing"
	"time"
)

func TestAServerThatIsDownHoldsAnAgentUpForABoundedTime(t *testing.T) {
	ctx, stop := patiently(t.Context())
	defer stop()
	if at, ok := ctx.Deadline(); !ok || time.Until(at) > patience {
		t.Errorf("until %v", at)
	}
	own, stop := context.WithTimeout(t.Context(), time.Hour)
	defer stop()
	ctx, stop = patiently(own)
	defer stop()
	want, _ := own.Deadline()
	if at, _ := ctx.Deadline(); at != want {
		t.Errorf("until %v, want the caller's %v", at, want)
	}
}
