package tree

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tracesmith/tracesmith/runtypes"
)

// Options says how a tree is drawn. The zero value is plain text of any
// width.
type Options struct {
	Width int  // columns at most; 0: no bound
	Color bool // ANSI colours
}

// node is a run with its place in a tree.
type node struct {
	run      runtypes.Wire
	meta     map[string]any
	children []*node
}

// Render draws runs as trees, one for each that has no parent among them: a
// line for each run with its kind, name, duration, tokens and error. Runs come
// in any order.
func Render(w io.Writer, runs []runtypes.Wire, opts Options) error {
	for i, top := range forest(runs) {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if err := top.render(w, opts, "", ""); err != nil {
			return err
		}
	}
	return nil
}

// forest joins runs to their parents, each list in dotted order.
func forest(runs []runtypes.Wire) []*node {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b runtypes.Wire) int { return strings.Compare(a.DottedOrder, b.DottedOrder) })
	byID := make(map[string]*node, len(runs))
	var tops []*node
	for _, run := range runs {
		n := &node{run: run, meta: run.Metadata()}
		// A parent sorts before its children: one that is not here yet never comes.
		if parent := byID[run.ParentRunID]; parent != nil {
			parent.children = append(parent.children, n)
		} else {
			tops = append(tops, n)
		}
		byID[run.ID] = n
	}
	return tops
}

// render draws the node's line behind first, and its children behind rest.
func (n *node) render(w io.Writer, opts Options, first, rest string) error {
	line := append([]piece{{text: first, style: styleDim}}, n.pieces(first == "")...)
	if _, err := fmt.Fprintln(w, draw(line, opts)); err != nil {
		return err
	}
	for i, child := range n.children {
		branch, trunk := "├─ ", "│  "
		if i == len(n.children)-1 {
			branch, trunk = "└─ ", "   "
		}
		if err := child.render(w, opts, rest+branch, rest+trunk); err != nil {
			return err
		}
	}
	return nil
}

// pieces are what a run's line says.
func (n *node) pieces(top bool) []piece {
	kind := n.run.Kind()
	out := []piece{
		{text: glyph(kind) + " " + string(kind) + " ", style: styleDim},
		{text: n.title(kind), style: styleBold},
	}
	if in, tokens := n.tokens(); in+tokens > 0 {
		out = append(out, piece{text: fmt.Sprintf("  %s in, %s out", count(in), count(tokens)), style: styleDim})
	}
	start, end, err := n.run.Times()
	switch {
	case err != nil:
	case end.IsZero():
		out = append(out, piece{text: "  running", style: styleYellow})
	default:
		out = append(out, piece{text: "  " + duration(end.Sub(start)), style: styleDim})
	}
	if waited := n.waited(); waited > 0 {
		out = append(out, piece{text: "  waited " + duration(waited), style: styleYellow})
	}
	if top && err == nil {
		out = append(out, piece{text: "  " + start.Format(time.RFC3339), style: styleDim})
	}
	switch {
	case n.run.Error == "":
	case n.meta["ls_is_error_interrupt"] == true:
		out = append(out, piece{text: "  interrupted: " + plain(n.run.Error), style: styleYellow})
	default:
		out = append(out, piece{text: "  error: " + plain(n.run.Error), style: styleRed})
	}
	return out
}

// title is the run's name, and for a model call the model as well.
func (n *node) title(kind runtypes.Kind) string {
	name := plain(n.run.Name)
	model, _ := n.meta["ls_model_name"].(string)
	if model = plain(model); kind == runtypes.KindLLM && model != "" && model != name {
		return strings.TrimSpace(name + " " + model)
	}
	return name
}

// maxNumber bounds what one run is believed, so that no sum overflows.
const maxNumber = 1 << 40

// number is a count in a run's metadata.
func number(v any) int64 {
	text, _ := v.(json.Number)
	n, err := text.Int64()
	if err != nil {
		return 0
	}
	return min(max(n, 0), maxNumber)
}

// waited is how long the run and what is below it waited for a person to answer.
func (n *node) waited() time.Duration {
	ms := number(n.meta["permission_wait_ms"])
	for _, child := range n.children {
		ms += child.waited().Milliseconds()
	}
	return time.Duration(min(ms, maxWait)) * time.Millisecond
}

// maxWait is a wait that no sum makes longer: a year, in milliseconds.
const maxWait = 365 * 24 * 3600 * 1000

// tokens sums the usage of the run and of what is below it. Only model calls
// carry any, so nothing counts twice.
func (n *node) tokens() (in, out int64) {
	usage, _ := n.meta["usage_metadata"].(map[string]any)
	in, out = number(usage["input_tokens"]), number(usage["output_tokens"])
	for _, child := range n.children {
		i, o := child.tokens()
		in, out = in+i, out+o
	}
	return in, out
}

func glyph(kind runtypes.Kind) string {
	switch kind {
	case runtypes.KindRoot:
		return "●"
	case runtypes.KindInterrupted:
		return "◐"
	case runtypes.KindLLM:
		return "◆"
	case runtypes.KindTool:
		return "▪"
	case runtypes.KindSubagent:
		return "◇"
	default:
		return "·"
	}
}

// count shortens a number of tokens: 950, 12.3k, 1.2M.
func count(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	default:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
}

// duration rounds to what a reader takes in: 340ms, 1.2s, 2m5s, 1h2m.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return d.Round(time.Second).String()
	default:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
}

// plain makes one line of what a run says: what it holds must not move the
// cursor or colour the terminal.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == utf8.RuneError
	}), " ")
}

// style is an ANSI colour.
type style string

const (
	styleDim    style = "2"
	styleBold   style = "1"
	styleRed    style = "31"
	styleYellow style = "33"
)

// piece is a stretch of a line in one style.
type piece struct {
	text  string
	style style
}

// draw joins pieces, cut to the width with an ellipsis.
func draw(line []piece, opts Options) string {
	var b strings.Builder
	left := opts.Width
	for i, p := range line {
		text := p.text
		if opts.Width > 0 {
			more := i < len(line)-1
			if n := utf8.RuneCountInString(text); n > left || n == left && more {
				text = string([]rune(text)[:max(left-1, 0)]) + "…"
			}
			left -= utf8.RuneCountInString(text)
		}
		switch {
		case text == "":
		case opts.Color:
			fmt.Fprintf(&b, "\x1b[%sm%s\x1b[0m", p.style, text)
		default:
			b.WriteString(text)
		}
		if opts.Width > 0 && left <= 0 {
			break
		}
	}
	return b.String()
}
