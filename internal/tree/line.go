package tree

import "github.com/tracesmith/tracesmith/runtypes"

// Line is one run as Render draws it below others, behind a text of the caller's.
func Line(run runtypes.Wire, opts Options, first string) string {
	n := &node{run: run, meta: run.Metadata()}
	return draw(append([]piece{{text: first, style: styleDim}}, n.pieces(false)...), opts)
}
