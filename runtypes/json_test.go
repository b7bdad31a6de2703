package runtypes

import (
	"encoding/json"
	"math"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestCleanKeepsWhatIsClean(t *testing.T) {
	for _, doc := range []string{
		`{"b":1,"a":[true,null,"x"],"n":9007199254740993,"f":1.0e3}`,
		`"plain \"quoted\" \\ud800 is a backslash and text"`,
		`{}`, `[]`, `0`, `-1`,
	} {
		got, err := Clean(json.RawMessage(doc))
		if err != nil || string(got) != doc {
			t.Errorf("Clean(%s) = %s, %v", doc, got, err)
		}
	}
}

func TestCleanRepairsWhatLangSmithRefuses(t *testing.T) {
	check := func(in, want string) {
		t.Helper()
		got, err := Clean(json.RawMessage(in))
		if err != nil {
			t.Fatalf("Clean(%q): %v", in, err)
		}
		if string(got) != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
	check(`{"a":"\ud800"}`, `{"a":"�"}`)
	check(`{"\udc00":"x"}`, `{"�":"x"}`)
	check(`{"a":"\ud83d\ude00"}`, `{"a":"😀"}`)
	check("{\"a\":\"\xff\xfe\"}", `{"a":"��"}`)
	check(`{"z":123456789012345678901234567890,"a":1}`, `{"z":"123456789012345678901234567890","a":1}`)
	check(`[9223372036854775807,-9223372036854775808]`, `[9223372036854775807,-9223372036854775808]`)
	check(`{"big":9223372036854775808,"html":"<b>&</b>"}`, `{"big":"9223372036854775808","html":"<b>&</b>"}`)
	check(`[1e400,-1.5E+999,1e-400,1e308,1e+22,1.50]`, `["1e400","-1.5E+999",1e-400,1e308,1e+22,1.50]`)
	check(`{"long":1`+strings.Repeat("0", 400)+`.5}`, `{"long":"1`+strings.Repeat("0", 400)+`.5"}`)
	check(`{"x":0.12345678901234567890123,"y":[{"\ud800":[]},{}]}`, `{"x":0.12345678901234567890123,"y":[{"�":[]},{}]}`)
}

func TestCleanRefusesWhatIsNoJSON(t *testing.T) {
	for _, doc := range []string{``, `{`, `{"a":NaN}`, `nul`, `{"a":1}{"b":2}`} {
		if got, err := Clean(json.RawMessage(doc)); err == nil {
			t.Errorf("Clean(%q) = %s, want an error", doc, got)
		}
	}
}

// loops holds itself by way of its parts.
type loops struct {
	N     float64
	Up    *loops
	Parts []*loops
}

// rude are values whose own methods panic.
type rude struct{ Text string }

func (rude) MarshalJSON() ([]byte, error) { panic("not today") }

// headed and its first field are at one address, and no loop.
type headed struct {
	Head inner
	N    float64
	At   *inner
}

type inner struct{ X int }

func TestAValueThatHasNoJSONIsAnErrorAndNothingWorse(t *testing.T) {
	m := map[string]any{"nan": math.NaN()}
	m["a"], m["b"] = m, m
	graph := &loops{N: math.NaN()}
	for range 8 {
		graph.Parts = append(graph.Parts, &loops{Up: graph})
	}
	list := []any{math.NaN(), nil}
	list[1] = list
	for name, v := range map[string]any{"map": m, "graph": graph, "list": list, "rude": rude{"secret"}, "channel": make(chan int)} {
		if got, err := Marshal(v); err == nil || strings.Contains(err.Error(), "not today") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	h := &headed{N: math.NaN()}
	h.At = &h.Head
	for want, v := range map[string]any{
		`{"At":{"X":0},"Head":{"X":0},"N":"NaN"}`:   h,
		`["NaN",[{"X":1}],[{"X":1}]]`:               func() any { same := []inner{{1}}; return []any{math.NaN(), same, same} }(),
		`["NaN","2026-11-30T00:00:00Z","10.0.0.1"]`: []any{math.NaN(), time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), net.IPv4(10, 0, 0, 1)},
	} {
		if got, err := Marshal(v); err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

func TestMarshalHasNoNaNAndNoHTMLEscapes(t *testing.T) {
	got, err := Marshal(map[string]any{
		"code": "if a < b && c > d {}",
		"nan":  math.NaN(), "inf": math.Inf(-1),
		"deep": []any{map[string]float64{"x": math.Inf(1)}, struct {
			N float64 `json:"n"`
			S string  `json:"s,omitempty"`
		}{N: math.NaN()}},
		"n": int64(9007199254740993),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"code":"if a < b && c > d {}","deep":[{"x":"+Inf"},{"n":"NaN"}],"inf":"-Inf","n":9007199254740993,"nan":"NaN"}`
	if string(got) != want {
		t.Errorf("Marshal = %s\nwant      %s", got, want)
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{`{"a":"\ud800\udc00","b":[1,2.5e300,123456789012345678901]}`, `"\ud83d"`, "[\"\xff\"]", `{"a":{"b":[[],{}]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		got, err := Clean(doc)
		if err != nil {
			return
		}
		if !json.Valid(got) || !utf8.Valid(got) {
			t.Fatalf("Clean(%q) = %q", doc, got)
		}
		again, err := Clean(got)
		if err != nil || string(again) != string(got) {
			t.Fatalf("not stable: %q then %q, %v", got, again, err)
		}
		if strings.Contains(strings.ToLower(string(got)), `\ud8`) && !strings.Contains(string(got), `\\`) {
			t.Fatalf("a surrogate escape is left in %q", got)
		}
	})
}
