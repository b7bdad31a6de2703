package cli

import (
	"io"
	"os"
	"strconv"

	"github.com/tracesmith/tracesmith/internal/tree"
)

// Colours of a terminal.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
)

// painter returns what colours a text on a terminal, and leaves it plain elsewhere.
func (a *app) painter() func(colour, text string) string {
	if !a.treeOptionsFor(a.stdout).Color {
		return func(_, text string) string { return text }
	}
	return func(colour, text string) string { return "\x1b[" + colour + "m" + text + "\x1b[0m" }
}

// treeOptionsFor fits a tree to where it is written: to a terminal's width and
// in colour, or plain and unbounded into a pipe or a file.
func (a *app) treeOptionsFor(w io.Writer) tree.Options {
	width, ok := widthOf(w)
	if !ok {
		return tree.Options{}
	}
	if n, err := strconv.Atoi(a.env("COLUMNS")); err == nil && n > 0 {
		width = n
	}
	return tree.Options{Width: width, Color: a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"}
}

// widthOf is the width of the terminal that is written to; ok is false for all else.
func widthOf(w io.Writer) (width int, ok bool) {
	if o, wrapped := w.(*output); wrapped {
		w = o.to
	}
	file, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	return terminalWidth(file)
}
