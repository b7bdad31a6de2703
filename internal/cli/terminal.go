package cli

import (
	"io"
	"os"
	"strconv"

	"github.com/tracesmith/tracesmith/internal/tree"
)

// treeOptionsFor fits a tree to where it is written: to a terminal's width and
// in colour, or plain and unbounded into a pipe or a file.
func (a *app) treeOptionsFor(w io.Writer) tree.Options {
	file, ok := w.(*os.File)
	if !ok {
		return tree.Options{}
	}
	width, ok := terminalWidth(file)
	if !ok {
		return tree.Options{}
	}
	if n, err := strconv.Atoi(a.env("COLUMNS")); err == nil && n > 0 {
		width = n
	}
	return tree.Options{Width: width, Color: a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"}
}
