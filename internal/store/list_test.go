package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/runtypes"
)

func summaries(t *testing.T, s *store.Store, q store.Query) []store.Summary {
	t.Helper()
	list, _, err := s.Summaries(t.Context(), q, store.Place{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func count(n int64) *int64 { return &n }

// busy stores a turn that has something of everything.
func busy(t *testing.T, s *store.Store) *runtypes.Run {
	t.Helper()
	root, llm, tool := turn("busy", 1, noon)
	root.Tags = []string{"nightly"}
	root.Metadata = map[string]any{"ticket": "PROJ-77"}
	llm.Usage = &runtypes.Usage{Input: 100, Output: 20, CacheRead: 60, Ephemeral5m: 10, Ephemeral1h: 5}
	cheap := runtypes.LLM(root, runID(noon, "cheap"), noon.Add(time.Second), runtypes.Model{Name: "own"})
	cheap.Usage = &runtypes.Usage{Input: 5, Output: 1, TotalCost: 0.25}
	tool.Metadata = map[string]any{"permission_wait_ms": 1500}
	export(t, s, post(root, llm, cheap, tool))
	runtypes.Finish(llm, noon.Add(2*time.Second))
	runtypes.Finish(cheap, noon.Add(2*time.Second))
	runtypes.Finish(tool, noon.Add(3*time.Second)).Error = "exit status 1"
	runtypes.Finish(root, noon.Add(4*time.Second))
	export(t, s, patch(tool), patch(cheap, llm), patch(root))
	return root
}

// sumOf is the turn that busy stores.
func sumOf(root *runtypes.Run) store.Summary {
	dollars := 0.25
	return store.Summary{
		TraceID: root.ID.String(), Thread: "busy", Number: 1, Kind: runtypes.KindRoot, Name: "Claude Code Turn",
		Title: "list <the> files", Agent: "claude-code", Repo: "https://github.com/a/b", Branch: "main",
		Start: noon, End: noon.Add(4 * time.Second), Model: "claude-opus-4-5",
		Runs: 4, FailedRuns: 1, ToolCalls: 1, Waiting: 1500 * time.Millisecond,
		Tokens: store.Tokens{Input: count(105), Output: count(21), CacheRead: count(60), CacheWrite: count(15)},
		Cost:   store.Cost{Dollars: &dollars, Unpriced: []string{"claude-opus-4-5"}},
	}
}

func TestATurnIsTheSumOfItsRuns(t *testing.T) {
	s := open(t, store.Config{})
	root := busy(t, s)
	if diff := cmp.Diff([]store.Summary{sumOf(root)}, summaries(t, s, store.Query{})); diff != "" {
		t.Error(diff)
	}
	busy(t, s) // the same again changes nothing
	if diff := cmp.Diff([]store.Summary{sumOf(root)}, summaries(t, s, store.Query{})); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNotKnownIsNotNought(t *testing.T) {
	s := open(t, store.Config{})
	root, _, _ := turn("th", 1, noon)
	root.Inputs = nil
	export(t, s, post(root))
	got := summaries(t, s, store.Query{})[0]
	if got.Tokens != (store.Tokens{}) || got.Cost.Dollars != nil || got.Cost.Unpriced != nil || got.Title != "" || !got.End.IsZero() {
		t.Errorf("%+v", got)
	}
}

func TestTurnsAreFoundByWhatTheySay(t *testing.T) {
	s := open(t, store.Config{})
	busy(t, s)
	other, _, _ := turn("other", 1, noon.Add(time.Minute))
	other.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: "Überprüfe parseHTTPHeader, cafe\u0301 und 测试 \u1c89\U0001e900"})
	other.Identity.Repo = runtypes.Repo{URL: "https://github.com/a/c", Branch: "fix"}
	other.Error = "overloaded"
	runtypes.Finish(other, noon.Add(2*time.Minute))
	export(t, s, post(other))
	for text, want := range map[string]string{
		"":                   "other busy",
		"files":              "busy",
		"FIL":                "busy",
		"iles":               "",
		"list files":         "busy",
		"list überprüfe":     "",
		"überprüfe":          "other",
		"httpheader cafe":    "other",
		"测试":                 "other",
		"试":                  "other",
		"exit status":        "busy",
		"bash":               "busy",
		"opus":               "busy",
		"nightly":            "busy",
		"PROJ-77":            "busy",
		"ticket":             "busy",
		"overloaded":         "other",
		"claude-code":        "other busy",
		"\"*":                "",
		"!!":                 "",
		`files" OR "x`:       "",
		"files NOT x":        "",
		"NEAR(list files)":   "",
		"\x00\xff":           "",
		"\U0001e900":         "other",
		"text:files":         "",
		"list - + ^ : files": "busy",
	} {
		var found []string
		for _, turn := range summaries(t, s, store.Query{Words: text}) {
			found = append(found, turn.Thread)
		}
		if got := fmt.Sprint(found); got != "["+want+"]" {
			t.Errorf("%q: %s, want [%s]", text, got, want)
		}
	}
}

func TestTurnsAreFiltered(t *testing.T) {
	s := open(t, store.Config{})
	ids := history(t, s)
	for name, tc := range map[string]struct {
		query store.Query
		want  []int
	}{
		"all":         {store.Query{}, []int{4, 3, 2, 1, 0}},
		"thread":      {store.Query{Thread: "odd"}, []int{3, 1}},
		"failed":      {store.Query{Failed: true}, []int{2}},
		"interrupted": {store.Query{Interrupted: true}, []int{4}},
		"either":      {store.Query{Failed: true, Interrupted: true}, []int{4, 2}},
		"failing":     {store.Query{FailedSteps: true}, []int{4, 3, 2, 1, 0}},
		"repo":        {store.Query{Repo: "https://github.com/a/b", Branch: "main", Agent: "claude-code"}, []int{4, 3, 2, 1, 0}},
		"no repo":     {store.Query{Repo: "x"}, nil},
		"time":        {store.Query{Since: noon.Add(time.Minute), Until: noon.Add(3 * time.Minute)}, []int{2, 1}},
	} {
		var want, got []string
		for _, i := range tc.want {
			want = append(want, ids[i])
		}
		for _, turn := range summaries(t, s, tc.query) {
			got = append(got, turn.TraceID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestThreadsAreSumsOfTheirTurns(t *testing.T) {
	s := open(t, store.Config{})
	history(t, s)
	threads, next, err := s.Threads(t.Context(), store.Query{Failed: true}, store.Place{}, 0)
	if err != nil || next != nil {
		t.Fatal(next, err)
	}
	want := []store.Thread{{
		ID: "even", Agent: "claude-code", Repo: "https://github.com/a/b", Branch: "main", Turns: 3, Errors: 1, Interrupted: 1, FailedSteps: 3,
		Prompts:  []string{"list <the> files", "list <the> files", "list <the> files"},
		Duration: 12 * time.Second, Start: noon, Last: noon.Add(4*time.Minute + 4*time.Second),
		Tokens: store.Tokens{Input: count(300), Output: count(60)}, Cost: store.Cost{Unpriced: []string{"claude-opus-4-5"}},
	}}
	if diff := cmp.Diff(want, threads); diff != "" {
		t.Error(diff)
	}
	facets, err := s.Facets(t.Context())
	if diff := cmp.Diff(store.Facets{
		Agents:   []store.Count{{Name: "claude-code", Turns: 5}},
		Repos:    []store.Count{{Name: "https://github.com/a/b", Turns: 5}},
		Branches: []store.Count{{Name: "main", Turns: 5}},
	}, facets); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestAModelWithoutAPriceIsNamedOnce(t *testing.T) {
	s := open(t, store.Config{})
	for i, names := range [][]string{{"own"}, {"own", "other"}} {
		root, _, _ := turn("th", i+1, noon.Add(time.Duration(i)*time.Minute))
		ops := post(root)
		for _, name := range names {
			llm := runtypes.LLM(root, runID(noon, fmt.Sprint(i, name)), root.Start.Add(time.Second), runtypes.Model{Name: name})
			llm.Usage = &runtypes.Usage{Input: 5, Output: 1}
			ops = append(ops, post(runtypes.Finish(llm, root.Start.Add(2*time.Second)))...)
		}
		export(t, s, ops)
	}
	thread, err := s.Thread(t.Context(), "th")
	if slices.Sort(thread.Cost.Unpriced); err != nil || !slices.Equal(thread.Cost.Unpriced, []string{"other", "own"}) {
		t.Errorf("%q, %v", thread.Cost.Unpriced, err)
	}
}

func TestAThreadIsFoundWhateverItIsCalled(t *testing.T) {
	s := open(t, store.Config{})
	names := []string{"it's", `"quoted"`, "nul\x00l", "<b>&amp;</b>", "\u202eevil", strings.Repeat("long", 2000)}
	for i, name := range names {
		root, _, _ := turn(name, 1, noon.Add(time.Duration(-i)*time.Second))
		export(t, s, post(root))
	}
	list, _, err := s.Threads(t.Context(), store.Query{}, store.Place{}, 0)
	if err != nil || len(list) != len(names) {
		t.Fatalf("%d threads, want %d: %v", len(list), len(names), err)
	}
	for i, name := range names {
		if list[i].ID != name[:min(len(name), store.MaxName)] || len(list[i].Prompts) != 1 || list[i].Turns != 1 {
			t.Errorf("%.40q: %.200v", name, list[i])
		}
		if thread, err := s.Thread(t.Context(), name); err != nil || thread.ID != list[i].ID {
			t.Errorf("%.40q: %v", name, err)
		}
		if turns := summaries(t, s, store.Query{Thread: name}); len(turns) != 1 {
			t.Errorf("%.40q: %d turns", name, len(turns))
		}
	}
}

// A turn that was stopped stops what runs in it: nothing of that failed.
func TestWhatAnInterruptionStoppedDidNotFail(t *testing.T) {
	s := open(t, store.Config{})
	root, llm, _ := turn("th", 1, noon)
	for _, run := range []*runtypes.Run{llm, root} {
		runtypes.Interrupt(run, noon.Add(time.Second), "Interrupted by user")
	}
	export(t, s, post(root, llm))
	if got := summaries(t, s, store.Query{})[0]; got.FailedRuns != 0 || !got.Interrupted {
		t.Errorf("%+v", got)
	}
	if list := summaries(t, s, store.Query{Failed: true, FailedSteps: true}); list != nil {
		t.Errorf("%+v", list)
	}
}

func TestPagesStayStillWhileTurnsArrive(t *testing.T) {
	s := open(t, store.Config{})
	var turns, threads []string
	for i := range 20 {
		root, _, _ := turn(fmt.Sprintf("th%02d", i), 1, noon.Add(time.Duration(i/2)*time.Second)) // two start at once
		export(t, s, post(root))
		turns, threads = append(turns, root.ID.String()), append(threads, root.Identity.ThreadID)
	}
	var gotTurns, gotThreads []string
	var turnsAfter, threadsAfter store.Place
	for page := range 7 {
		list, next, err := s.Summaries(t.Context(), store.Query{}, turnsAfter, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range list {
			gotTurns = append(gotTurns, turn.TraceID)
		}
		conversations, more, err := s.Threads(t.Context(), store.Query{}, threadsAfter, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range conversations {
			gotThreads = append(gotThreads, thread.ID)
		}
		if (next == nil) != (page == 6) || (more == nil) != (page == 6) {
			t.Fatalf("page %d: %v %v", page, next, more)
		}
		if next != nil {
			turnsAfter, threadsAfter = *next, *more
		}
		// A new turn of an old conversation, of which no page has told yet.
		late, _, _ := turn("th00", page+2, noon.Add(time.Duration(page+1)*time.Hour))
		export(t, s, post(late))
	}
	slices.Sort(gotTurns)
	slices.Sort(gotThreads)
	slices.Sort(turns)
	if !slices.Equal(gotTurns, turns) || !slices.Equal(gotThreads, threads) {
		t.Errorf("turns  %v\nwant   %v\nthreads %v\nwant    %v", gotTurns, turns, gotThreads, threads)
	}
}

func TestTotalsByDayAreThoseOfTheZone(t *testing.T) {
	s := open(t, store.Config{})
	history(t, s)                                                              // minutes 0 to 4 after noon
	zone := time.FixedZone("", int((12*time.Hour-15*time.Minute)/time.Second)) // where noon is a quarter to midnight
	late, _, _ := turn("late", 1, noon.Add(15*time.Minute))
	export(t, s, post(late))
	days, err := s.Totals(t.Context(), store.ByDay, store.Query{}, zone)
	if err != nil || len(days) != 2 || days[0].Key != "2026-12-01" || days[0].Turns != 1 || days[0].Tokens.Input != nil {
		t.Fatalf("%+v %v", days, err)
	}
	if d := days[1]; d.Key != "2026-11-30" || d.Turns != 5 || d.Failures != 1 || d.Interrupted != 1 || d.ToolCalls != 5 ||
		*d.Tokens.Input != 500 || d.Cost.Dollars != nil || !slices.Equal(d.Cost.Unpriced, []string{"claude-opus-4-5"}) {
		t.Errorf("%+v", d)
	}
	for by, want := range map[store.By]int{store.ByRepo: 1, store.ByBranch: 1, store.ByThread: 3} {
		if rows, err := s.Totals(t.Context(), by, store.Query{}, time.UTC); err != nil || len(rows) != want {
			t.Errorf("%s: %+v %v", by, rows, err)
		}
	}
	if _, err := s.Totals(t.Context(), "seq; DROP TABLE runs", store.Query{}, time.UTC); err == nil {
		t.Error("any column can be asked for")
	}
}

func TestARunIsReadWithoutAndWithItsContent(t *testing.T) {
	s := open(t, store.Config{})
	root := busy(t, s)
	heads, err := s.Heads(t.Context(), root.ID.String())
	if err != nil || len(heads) != 4 {
		t.Fatal(len(heads), err)
	}
	if h := heads[0]; !h.HasInputs || h.HasOutputs || h.Inputs != nil || h.Metadata()["ticket"] != "PROJ-77" || h.Bytes < 500 {
		t.Errorf("%+v", h)
	}
	run, err := s.Run(t.Context(), root.ID.String(), root.ID.String())
	if err != nil || string(run.Inputs) != string(root.Inputs) {
		t.Errorf("%s %v", run.Inputs, err)
	}
	if _, err := s.Run(t.Context(), heads[1].ID, root.ID.String()); err == nil {
		t.Error("a run was found in another trace")
	}
}

// A clock that is wrong must not make a sum that the database cannot hold.
func TestTurnsOfImpossibleLengthDoNotTakeTheListOfThreads(t *testing.T) {
	s := open(t, store.Config{})
	for n := range 40 {
		root, _, _ := turn("long", n+1, time.Date(2, 1, 1, 0, 0, n, 0, time.UTC))
		runtypes.Finish(root, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
		export(t, s, post(root))
	}
	list, _, err := s.Threads(t.Context(), store.Query{}, store.Place{}, 0)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d threads, %v", len(list), err)
	}
	if most := 40 * 365 * 24 * time.Hour; list[0].Turns != 40 || list[0].Duration != most {
		t.Errorf("%d turns of %v, want %v", list[0].Turns, list[0].Duration, most)
	}
}
