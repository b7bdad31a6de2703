package relay

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/runtypes"
)

func TestAnErrorBeginsWithWhatWentWrong(t *testing.T) {
	const file = "\n  File \"/home/dev/x.py\", line 7, in f\n    g()\n    ~^^\n"
	for native, want := range map[string]string{
		// As LangChain's tracer writes it: no line between the two.
		"ValueError('no such file')" + traceback + "\n\n" + file + "\n\nValueError: no such file\n": "ValueError('no such file')",
		// As LangSmith's decorator writes it.
		traceback + file + "KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\n" + traceback + file + "pkg.BadError: it's bad\n": "pkg.BadError: it's bad",
		"  + Exception Group " + traceback + "\n  |" + file + "  | ExceptionGroup: two (2 sub-exceptions)\n":                                                          "+ Exception Group",
		"Error: 400 no such model\n    at Client.ask (/home/dev/x.js:1:2)":                                                                                            "Error: 400 no such model",
		"just a text":                         "just a text",
		traceback:                             traceback,
		"Boom()\n\nNoneType: None\n":          "Boom()",
		strings.Repeat("x", 2*maxFailure):     strings.Repeat("x", maxFailure) + " ...",
		strings.Repeat("ü", maxFailure) + "z": strings.Repeat("ü", maxFailure/2) + " ...",
	} {
		var run runtypes.Run
		fail(&run, native)
		first, _, _ := strings.Cut(run.Error, "\n")
		if first != want || run.Interrupted {
			t.Errorf("%.80q begins with %q, want %q", native, first, want)
		}
	}
	var run runtypes.Run
	fail(&run, "Boom()"+traceback+strings.Repeat(file+"é", 2000)+"\nBoom: the end\n")
	if len(run.Error) > maxWhere+100 || !strings.HasSuffix(run.Error, "Boom: the end") || !utf8.ValidString(run.Error) {
		t.Errorf("%d bytes: %q", len(run.Error), run.Error)
	}
}

// The client tells what a browser opens; hooks tell what git has.
func TestTheRepositoryIsSpelledAsItIsThere(t *testing.T) {
	const native = "https://github.com/acme/widgets"
	for origin, want := range map[string]string{
		"":                                    native,
		"git@github.com:acme/widgets.git":     "git@github.com:acme/widgets.git",
		"https://github.com/Acme/Widgets.git": "https://github.com/Acme/Widgets.git",
		"https://github.com/acme/other.git":   native, // the folder is another's by now
	} {
		s := newStory("thread", "turn", 1)
		root := s.run(nil, "agent", "chain", nil)
		src, turn := &told{}, newTurn()
		raw, err := json.Marshal(map[string]any{"number": 1, "run": begin(root).run, "origin": origin})
		if err != nil {
			t.Fatal(err)
		}
		ops, err := turn.Apply(src, integrations.Event{Kind: linePost, Data: raw})
		if err != nil || len(ops) != 1 || ops[0].Run.Identity.Repo.URL != want {
			t.Errorf("%q: %v, %+v, want %q", origin, err, ops, want)
		}
	}
}
