package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/web"
	"github.com/tracesmith/tracesmith/runtypes"
)

// parse reads JSON that a test wants.
func parse(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

const wantTurn = `{"trace_id":"TRACE","thread":"a/b c","number":1,"kind":"root","name":"Claude Code Turn","title":"fix it","agent":"claude-code",
	"repo":"https://github.com/a/b","branch":"main","start":"2026-11-30T12:00:00Z","end":"2026-11-30T12:00:04Z","duration_ms":4000,"waiting_ms":700,
	"error":null,"interrupted":false,"runs":3,"failed_runs":1,"failed_steps":1,"tool_calls":1,"tokens":{"input":100,"output":20,"cache_read":60,"cache_write":0},
	"cost_usd":null,"unpriced_models":["claude-opus-4-5"],"model":"claude-opus-4-5","capture_level":null}`

const wantThread = `{"id":"a/b c","agent":"claude-code","repo":"https://github.com/a/b","branch":"main","title":"fix it","prompts":["fix it"],"turns":1,
	"tokens":{"input":100,"output":20,"cache_read":60,"cache_write":0},"duration_ms":4000,"waiting_ms":700,"cost_usd":null,
	"unpriced_models":["claude-opus-4-5"],"errors":0,"interrupted":0,"failed_steps":1,"start":"2026-11-30T12:00:00Z","last":"2026-11-30T12:00:04Z","running":false}`

func TestEachRouteAnswersWhatThePageExpects(t *testing.T) {
	w := newWorld(t, web.Config{})
	trace := w.turn(t, "a/b c", 1, noon, "fix it\nplease")
	turn := strings.ReplaceAll(wantTurn, "TRACE", trace)
	for path, want := range map[string]string{
		"/api/threads": `{"threads":[` + wantThread + `],"next":null,"facets":{"agents":[{"name":"claude-code","turns":1}],
			"repos":[{"name":"https://github.com/a/b","turns":1}],"branches":[{"name":"main","turns":1}]}}`,
		"/api/threads/" + url.PathEscape("a/b c"): `{"thread":` + wantThread + `,"turns":[` + turn + `],"next":null}`,
		"/api/turns":                  `{"turns":[` + turn + `],"next":null}`,
		"/api/turns?q=plea":           `{"turns":[` + turn + `],"next":null}`,
		"/api/turns?since=2026-12-01": `{"turns":[],"next":null}`,
		"/api/turns?until=2026-11-30": `{"turns":[` + turn + `],"next":null}`,
		"/api/turns?until=2026-11-29": `{"turns":[],"next":null}`,
		"/api/turns?failed=1":         `{"turns":[],"next":null}`,
		"/api/turns?failed_steps=1":   `{"turns":[` + turn + `],"next":null}`,
		"/api/totals?by=repo&branch=main": `{"rows":[{"key":"https://github.com/a/b","turns":1,"tool_calls":1,"failures":0,"interrupted":0,"waiting_ms":700,
			"tokens":{"input":100,"output":20,"cache_read":60,"cache_write":0},"cost_usd":null,"unpriced_models":["claude-opus-4-5"]}]}`,
		"/api/totals?branch=none": `{"rows":[]}`,
	} {
		if diff := cmp.Diff(parse(t, want), any(w.ask(t, path))); diff != "" {
			t.Errorf("%s:\n%s", path, diff)
		}
	}
}

func TestATraceIsItsRunsWithoutWhatWasSaid(t *testing.T) {
	w := newWorld(t, web.Config{})
	trace := w.turn(t, "th", 1, noon, "fix it")
	answer := w.ask(t, "/api/traces/"+trace)
	runs, _ := answer["runs"].([]any)
	if len(runs) != 3 || answer["langsmith_url"] != nil {
		t.Fatalf("%v", answer)
	}
	llm, _ := runs[1].(map[string]any)
	tool, _ := runs[2].(map[string]any)
	for key, want := range map[string]any{
		"parent_id": trace, "run_type": "llm", "kind": "llm", "model": "claude-opus-4-5", "ttft_ms": 500.0, "waiting_ms": nil, "has_inputs": true,
		"has_outputs": true, "error": nil, "cost_usd": nil, "start": "2026-11-30T12:00:01Z", "end": "2026-11-30T12:00:02Z", "tool": nil,
	} {
		if llm[key] != want {
			t.Errorf("model call: %s is %v, want %v", key, llm[key], want)
		}
	}
	if got := fmt.Sprint(llm["tokens"]); got != "map[cache_read:60 cache_write:<nil> input:100 output:20]" {
		t.Error(got)
	}
	for key, want := range map[string]any{"kind": "tool", "waiting_ms": 700.0, "error": "exit status 1", "has_outputs": false, "ttft_ms": nil} {
		if tool[key] != want {
			t.Errorf("tool: %s is %v, want %v", key, tool[key], want)
		}
	}
	if got := fmt.Sprint(tool["tool"]); got != "map[name:Bash]" {
		t.Error(got)
	}
	if text := w.get(t, "/api/traces/"+trace, http.StatusOK); strings.Contains(text, "make test") {
		t.Error("what the tool was given is in it")
	}
	if meta, _ := llm["metadata"].(map[string]any); meta["ls_provider"] != "anthropic" {
		t.Errorf("%v", meta)
	}
}

func TestALongTextIsCutAndMarked(t *testing.T) {
	w := newWorld(t, web.Config{})
	root, llm, tool := turn("th", 1, noon, "fix it")
	long := strings.Repeat("é", 5<<20) // 10 MB
	tool.Outputs, _ = json.Marshal(map[string]any{"output": long, "short": "x", "n": json.Number("12345678901234567890")})
	w.put(t, runtypes.Post, root, llm, tool)
	trace, id := root.ID.String(), tool.ID.String()
	answer := w.ask(t, with("/api/runs/"+id, "trace", trace))
	outputs, _ := answer["outputs"].(map[string]any)
	cut, _ := outputs["output"].(map[string]any)
	beginning, _ := cut["text"].(string)
	if cut["…"] != float64(len(long)) || len(beginning) != 64<<10 || !strings.HasPrefix(long, beginning) || outputs["short"] != "x" {
		t.Errorf("%v, %d bytes of text", cut["…"], len(beginning))
	}
	text, header := w.do(t, w.request(t, with("/api/runs/"+id+"/raw", "trace", trace)), http.StatusOK)
	if header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment;") {
		t.Errorf("%v", header)
	}
	var raw runtypes.Wire
	if err := json.Unmarshal([]byte(text), &raw); err != nil || !strings.Contains(string(raw.Outputs), long) {
		t.Errorf("the whole is not there: %v", err)
	}
}

func TestManyTextsAreCutToABoundTogether(t *testing.T) {
	w := newWorld(t, web.Config{})
	root, llm, tool := turn("th", 1, noon, "fix it")
	var many []string
	for range 100 {
		many = append(many, strings.Repeat("x", 60<<10))
	}
	tool.Outputs, _ = json.Marshal(map[string]any{"output": many})
	w.put(t, runtypes.Post, root, llm, tool)
	if text := w.get(t, with("/api/runs/"+tool.ID.String(), "trace", root.ID.String()), http.StatusOK); len(text) > 5<<20 {
		t.Errorf("%d bytes", len(text))
	}
}

func TestWhatIsHostileIsTextInJSON(t *testing.T) {
	w := newWorld(t, web.Config{})
	trace := w.turn(t, "<th>", 1, noon, "<script>alert(1)</script> & javascript:alert(2)\u2028")
	for _, path := range []string{
		"/api/threads", "/api/turns", "/api/threads/%3Cth%3E", "/api/traces/" + trace, "/api/totals?by=thread",
		with("/api/runs/"+trace, "trace", trace), with("/api/runs/"+trace+"/raw", "trace", trace), "/api/turns?q=%3Cscript%3E", "/%3Cscript%3E",
	} {
		status := http.StatusOK
		if strings.HasPrefix(path, "/%3C") {
			status = http.StatusNotFound
		}
		text, header := w.do(t, w.request(t, path), status)
		if strings.ContainsAny(text, "<>&\u2028") {
			t.Errorf("%s: not escaped: %.300s", path, text)
		}
		if kind := header.Get("Content-Type"); strings.Contains(kind, "html") {
			t.Errorf("%s is %s", path, kind)
		}
	}
}

func TestAQuestionThatIsNoneIsRefusedInOneLine(t *testing.T) {
	w := newWorld(t, web.Config{})
	trace := w.turn(t, "th", 1, noon, "x")
	long := strings.Repeat("x", 2000)
	for path, status := range map[string]int{
		"/api/threads?limit=0": 400, "/api/threads?limit=201": 400, "/api/threads?limit=x": 400, "/api/turns?since=yesterday": 400,
		"/api/turns?until=x": 400, "/api/turns?cursor=x": 400, "/api/threads?cursor=e30": 400, "/api/turns?q=" + long: 400, "/api/turns?q=%ff": 400,
		"/api/totals?by=seq": 400, "/api/threads/none": 404, "/api/traces/none": 404, "/api/traces/" + strings.ToUpper(trace[:35]) + "z": 404,
		"/api/runs/" + trace: 400, "/api/runs/x?trace=" + trace: 404, "/api/runs/" + trace + "?trace=00000000-0000-0000-0000-000000000000": 404,
		"/api/none": 404, "/api/": 404, "/api/traces/" + trace + "/langsmith": 404, "/api/traces/" + trace[:35] + "0/export.html": 404,
	} {
		text := w.get(t, path, status)
		if v, _ := parse(t, text).(map[string]any); v["error"] == "" || strings.Contains(text, "\n") || len(v) != 1 {
			t.Errorf("%s: %s", path, text)
		}
	}
}

func TestNoNameIsTooLongToBeAskedFor(t *testing.T) {
	w := newWorld(t, web.Config{})
	for i, long := range []string{strings.Repeat("<", 700), strings.Repeat("é", 5<<10), strings.Repeat("x", 5<<10)} {
		root, llm, tool := turn(long, 1, noon.Add(time.Duration(i)*time.Minute), "go")
		for _, run := range []*runtypes.Run{root, llm, tool} {
			run.Identity.Repo.Branch = long
		}
		w.put(t, runtypes.Post, root, llm, tool)
	}
	path, pages := "/api/threads?limit=1", 0
	for ; path != ""; pages++ {
		answer := w.ask(t, path)
		threads, _ := answer["threads"].([]any)
		for _, each := range threads {
			thread, _ := each.(map[string]any)
			id, branch := fmt.Sprint(thread["id"]), fmt.Sprint(thread["branch"])
			if turns, _ := w.ask(t, "/api/threads/"+url.PathEscape(id))["turns"].([]any); len(turns) != 1 {
				t.Errorf("%.9s: %d turns", id, len(turns))
			}
			if turns, _ := w.ask(t, with("/api/turns", "branch", branch))["turns"].([]any); len(turns) != 1 {
				t.Errorf("branch %.9s: %d turns", branch, len(turns))
			}
		}
		if path = ""; answer["next"] != nil {
			path = with("/api/threads", "limit", "1", "cursor", fmt.Sprint(answer["next"]))
		}
	}
	if pages != 3 {
		t.Errorf("%d pages", pages)
	}
}

func TestTheListsArePagedToTheirEnd(t *testing.T) {
	w := newWorld(t, web.Config{})
	var want []string
	for i := range 7 {
		want = append(want, w.turn(t, fmt.Sprintf("th%d", i%3), i/3+1, noon.Add(time.Duration(i)*time.Minute), "go"))
	}
	var got []string
	path := "/api/turns?limit=3"
	for path != "" {
		answer := w.ask(t, path)
		turns, _ := answer["turns"].([]any)
		for _, each := range turns {
			turn, _ := each.(map[string]any)
			got = append(got, fmt.Sprint(turn["trace_id"]))
		}
		if path = ""; answer["next"] != nil {
			path = with("/api/turns", "limit", "3", "cursor", fmt.Sprint(answer["next"]))
			w.turn(t, "new", len(got), noon.Add(time.Hour), "later") // changes no page
		}
	}
	slices.Reverse(want)
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if facets := w.ask(t, with("/api/threads", "limit", "1", "cursor", fmt.Sprint(w.ask(t, "/api/threads?limit=1")["next"])))["facets"]; facets != nil {
		t.Errorf("facets again: %v", facets)
	}
}

func TestALinkLeadsToLangSmithOnlyWhereTheTurnIs(t *testing.T) {
	var there, page string
	w := newWorld(t, web.Config{
		Elsewhere: func(trace string) bool { return trace == there },
		Open: func(context.Context, string) (string, error) {
			if page == "" {
				return "", errors.New("LangSmith does not answer")
			}
			return page, nil
		},
	})
	there = w.turn(t, "th", 1, noon, "x")
	here := w.turn(t, "th", 2, noon.Add(time.Minute), "x")
	link := "/api/traces/" + there + "/langsmith"
	if got := w.ask(t, "/api/traces/"+there)["langsmith_url"]; got != link {
		t.Errorf("%v", got)
	}
	if got := w.ask(t, "/api/traces/"+here)["langsmith_url"]; got != nil {
		t.Errorf("%v", got)
	}
	w.get(t, link, http.StatusBadGateway)
	for _, page = range []string{"javascript:alert(1)", "//x", "/x", "https:x", "data:text/html,x", "https://a b/"} {
		w.get(t, link, http.StatusBadGateway)
	}
	page = "https://smith.langchain.com/o/1/r/2"
	if _, header := w.do(t, w.request(t, link), http.StatusSeeOther); header.Get("Location") != page {
		t.Errorf("%v", header)
	}
}

func TestThePageIsToldWhereTurnsGo(t *testing.T) {
	for want, destinations := range map[string]func() []web.Destination{
		`{"destinations":null}`:  nil,
		`{"destinations":[]}`:    func() []web.Destination { return []web.Destination{} },
		`{"destinations":null} `: func() []web.Destination { return nil },
		`{"destinations":[{"address":"https://eu.example","project":"mine","content":"full","unredacted":true,"last":"2026-11-30T12:00:00Z"},
			{"address":"http://localhost:4318","project":null,"content":null,"unredacted":false,"last":null}]}`: func() []web.Destination {
			return []web.Destination{{Address: "https://eu.example", Project: "mine", Content: "full", Bare: true, Last: noon}, {Address: "http://localhost:4318"}}
		},
	} {
		w := newWorld(t, web.Config{Destinations: destinations})
		if diff := cmp.Diff(parse(t, want), any(w.ask(t, "/api/about"))); diff != "" {
			t.Error(diff)
		}
	}
}
