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
	for _, where := range tracer.Where() {
		if _, err := fmt.Fprintln(w, "stored in", where); err != nil {
			return err
		}
	}
	return tracer.Flush(ctx)
}
