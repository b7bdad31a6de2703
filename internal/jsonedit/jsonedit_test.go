package jsonedit

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func parse(t *testing.T, text string) *Tree {
	t.Helper()
	tree, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return tree
}

func TestAnElementLooksLikeItsNeighbours(t *testing.T) {
	value := map[string][]int{"b": {1}}
	for name, c := range map[string]struct{ in, want string }{
		"empty text":  {"{}", "{\n  \"new\": {\n    \"b\": [\n      1\n    ]\n  }\n}"},
		"compact":     {`{"a":1}`, `{"a":1,"new":{"b":[1]}}`},
		"spaced":      {`{"a": 1, "c": 2}`, `{"a": 1, "c": 2, "new":{"b":[1]}}`},
		"two spaces":  {"{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"new\": {\n    \"b\": [\n      1\n    ]\n  }\n}\n"},
		"tabs, CRLF":  {"{\r\n\t\"a\": 1\r\n}", "{\r\n\t\"a\": 1,\r\n\t\"new\": {\r\n\t\t\"b\": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}"},
		"mark":        {"\xef\xbb\xbf{\"a\":1}", "\xef\xbb\xbf{\"a\":1,\"new\":{\"b\":[1]}}"},
		"odd layout":  {"{\n    \"a\":1 ,\"c\" : 2\n}", "{\n    \"a\":1 ,\"c\" : 2,\"new\": {\"b\":[1]}\n}"},
		"blank lines": {"{\n\n  \"a\": 1\n\n}", "{\n\n  \"a\": 1,\n\n  \"new\": {\n    \"b\": [\n      1\n    ]\n  }\n\n}"},
	} {
		tree := parse(t, c.in)
		got, err := tree.Insert(tree.Root, "new", value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %q\nwant %q (%v)", name, got, c.want, err)
		}
	}
}

func TestAFirstElementIsIndentedBelowItsList(t *testing.T) {
	tree := parse(t, "{\n\t\"a\": {\n\t\t\"list\": []\n\t}\n}")
	a, _ := tree.Root.Get("a")
	list, _ := a.Get("list")
	got, err := tree.Insert(list, "", "<x>")
	if want := "{\n\t\"a\": {\n\t\t\"list\": [\n\t\t\t\"<x>\"\n\t\t]\n\t}\n}"; err != nil || string(got) != want {
		t.Errorf("got %q, want %q (%v)", got, want, err)
	}
}

func TestAValueIsReplacedInItsPlace(t *testing.T) {
	tree := parse(t, "{ \"a\" : true , \"b\": 1}")
	a, _ := tree.Root.Get("a")
	if !tree.Is(a, "true") || tree.Is(nil, "true") || tree.Is(tree.Root, "true") {
		t.Error("true is not told from others")
	}
	got, err := tree.Replace(a, false)
	if want := "{ \"a\" : false , \"b\": 1}"; err != nil || string(got) != want {
		t.Errorf("got %q, want %q (%v)", got, want, err)
	}
}

func TestDeleteTakesTheCommaAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		in   string
		i    int
		want string
	}{
		{`{"a": 1, "b": 2, "c": 3}`, 0, `{"b": 2, "c": 3}`},
		{`{"a": 1, "b": 2, "c": 3}`, 1, `{"a": 1, "c": 3}`},
		{`{"a": 1, "b": 2, "c": 3}`, 2, `{"a": 1, "b": 2}`},
		{"{\n  \"a\": [1]\n}", 0, "{}"},
	} {
		tree := parse(t, c.in)
		if got := string(tree.Delete(tree.Root, c.i)); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestTheLastOfTwoMembersCounts(t *testing.T) {
	tree := parse(t, `{"a": "first", "a": "l\u0061st"}`)
	n, i := tree.Root.Get("a")
	if s, ok := tree.Text(n); !ok || s != "last" || i != 1 {
		t.Errorf("got %q at %d", s, i)
	}
	if _, ok := tree.Text(tree.Root); ok {
		t.Error("an object is no text")
	}
}

func TestWhatIsNoJSONIsExplained(t *testing.T) {
	for in, want := range map[string]string{
		"{\n  // why\n}":     "line 2: not valid JSON: comments",
		"{\n  \"a\": 1,\n}":  "line 3: not valid JSON: trailing commas",
		"[1, ]":              "line 1: not valid JSON: trailing commas",
		"{\"a\": 1":          "line 1: not valid JSON",
		"":                   "line 1: not valid JSON",
		"\xff\xfe{\x00}\x00": "line 1: not valid JSON",
		strings.Repeat("[", 300) + strings.Repeat("]", 300): "not valid JSON: nested too deep",
	} {
		if _, err := Parse([]byte(in)); !errors.Is(err, ErrNotJSON) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", in, err, want)
		}
	}
}

func FuzzInsertThenDeleteIsNothing(f *testing.F) {
	for _, seed := range []string{
		`{"a":1}`, "{\n \"a\": [1, {\"b\": null}],\n\t\"c\":\"\\\"}\"\r\n}", `{"a":{},"b":[]}`, "\xef\xbb\xbf{ \"a\" : -1.5e3 }\n", `[]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := Parse([]byte(text))
		if err != nil || tree.Root.Kind == Scalar {
			return
		}
		more, err := tree.Insert(tree.Root, "new", []any{"x", map[string]any{"y": 1}})
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid([]byte(strings.TrimPrefix(string(more), "\xef\xbb\xbf"))) {
			t.Fatalf("%q became %q", text, more)
		}
		again, err := Parse(more)
		if err != nil {
			t.Fatal(err)
		}
		last := len(again.Root.Children) - 1
		if last != len(tree.Root.Children) {
			t.Fatalf("%q became %q", text, more)
		}
		if back := string(again.Delete(again.Root, last)); last > 0 && back != text {
			t.Errorf("%q came back as %q", text, back)
		}
	})
}
