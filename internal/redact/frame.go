package redact

import "bytes"

const (
	// maxDepth bounds how many open objects and lists are remembered. What is deeper
	// counts to the last of them.
	maxDepth = 256
	// maxArgument is the longest string that may be a command or its option.
	maxArgument = 256
)

// frame is an object or a list that is open.
type frame struct {
	list   bool
	rule   verdict // of a list: what the key says that it was given to
	named  verdict // of an object: what {"name":"API_KEY" says of its value
	holder verdict // of an object: what the key says that it was given to

	items   int       // of a list: how many strings were in it
	options []*option // of a list: those of the commands that are in it
	pending verdict   // of a list: what a flag says of the argument after it
	option  *option   // of a list: the option before
	pair    verdict   // of a list: what its first string, a name, says of its second
}

// open enters an object or a list.
func (w *walker) open(f frame) {
	if len(w.outer) == maxDepth {
		w.deeper++
		return
	}
	w.outer = append(w.outer, w.frame)
	w.frame = f
}

// close leaves it: what comes next in a list is the value of the list's key.
func (w *walker) close() {
	switch last := len(w.outer) - 1; {
	case w.deeper > 0:
		w.deeper--
	case last >= 0:
		w.frame, w.outer = w.outer[last], w.outer[:last]
	}
	w.rule = w.frame.rule
}

// argument finds the secret in a string of a list that the flag before it, or in it,
// gives: ["--password","…"], ["mysql","-p…"]. from is where it begins.
func (w *walker) argument(text []byte) (from int, rule string, ok bool) {
	if !w.list {
		return 0, "", false
	}
	pending, before := w.pending, w.option
	w.pending, w.option = verdict{}, nil
	if w.items++; w.items == 2 && w.next < len(w.doc) && w.doc[w.next] == ']' && w.pair.how != none && secretText(text, w.pair.how) && random(text) && hasDigit(text) {
		return afterScheme(text, 0), w.pair.rule, true
	}
	w.pair = verdict{}
	switch {
	case pending.how != none && secretText(text, pending.how) && text[0] != '-':
		return afterScheme(text, 0), pending.rule, true
	case before != nil:
		if from, ok := before.password(text); ok {
			return from, "password", true
		}
	}
	if len(text) < 2 || len(text) > maxArgument {
		return 0, "", false
	}
	if text[0] != '-' {
		if w.items == 1 && len(w.outer) > 0 && w.outer[len(w.outer)-1].list {
			w.pair = w.judge(text) // [["password","…"]]
		}
		w.command(text)
		return 0, "", false
	}
	if bytes.IndexByte(text, '=') < 0 {
		w.pending = w.index.sensitive(bytes.TrimLeft(text, "-"))
	}
	return w.flag(text)
}

// command notes the options of the command that text names.
func (w *walker) command(text []byte) {
	for i := range options {
		if o := &options[i]; len(w.options) < len(options) && o.is(text) {
			w.options = append(w.options, o)
		}
	}
}

// flag looks at an argument that is an option of the list's command.
func (w *walker) flag(text []byte) (from int, rule string, ok bool) {
	for _, o := range w.options {
		rest, found := bytes.CutPrefix(text, []byte(o.flag))
		switch {
		case !found:
		case len(rest) == 0 && o.shape&apart != 0:
			w.option = o
		case len(rest) > 0 && o.shape&attached != 0:
			if from, ok := o.password(rest); ok {
				return len(o.flag) + from, "password", true
			}
		}
	}
	return 0, "", false
}
