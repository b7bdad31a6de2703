package toy

import (
	"context"
	"fmt"
	"io"

	"github.com/tracesmith/tracesmith/integrations/goagent"
)

// Show prints what a tracer was given, as trees, and where it went.
func Show(ctx context.Context, w io.Writer, tracer *goagent.Tracer) error {
	ctx = context.WithoutCancel(ctx) // an interrupted turn is shown too
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := tracer.WriteTrees(ctx, w); err != nil {
		return err
	}
	undelivered, arrived := tracer.Flush(ctx), "stored in"
	if undelivered != nil {
		arrived = "meant for" // which of them it is the error says
	}
	for _, where := range tracer.Where() {
		if _, err := fmt.Fprintln(w, arrived, where); err != nil {
			return err
		}
	}
	return undelivered
}
