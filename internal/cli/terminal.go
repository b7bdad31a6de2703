package cli

import (
	"io"
	"os"
	"strconv"
)

// treeOptionsFor fits a tree to where it is written: to a terminal's width and
// in colour, or plain and unbounded into a pipe or a file.
func (a *app) treeOptionsFor(w io.Writer) treeOptions {
	file, ok := w.(*os.File)
	if !ok {
		return treeOptions{}
	}
	width, ok := terminalWidth(file)
	if !ok {
		return treeOptions{}
	}
	if n, err := strconv.Atoi(a.env("COLUMNS")); err == nil && n > 0 {
		width = n
	}
	return treeOptions{Width: width, Color: a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"}
}
