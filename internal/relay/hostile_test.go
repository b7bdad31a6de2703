package relay

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

const twoTurns = "root agent\n  llm ChatAnthropic\nroot agent\n"

// A prompt that was typed while the agent worked is sent at once: the client's next
// batch has the end of one turn and the beginning of another.
func TestATurnThatEndsInTheRequestThatBeginsTheNextIsComplete(t *testing.T) {
	b := newBench(t, ingest.Config{}).start()
	s, after := newStory("thread", "turn-1", 1), newStory("thread", "turn-2", 2)
	root, second := s.run(nil, "agent", "chain", nil), after.run(nil, "agent", "chain", nil)
	b.post(append([]native{begin(root)}, s.model(root, nil)...)...)
	b.post(s.end(root, says("one"), ""), begin(second))
	b.post(after.end(second, says("two"), ""))
	runs := b.await("both turns", whole(2))
	check(t, runs)
	if got := outline(runs); got != twoTurns {
		t.Errorf("got\n%s, want\n%s", got, twoTurns)
	}
}

// Clients have several requests under way, and the later one may come first.
func TestATurnWhoseEndComesAfterTheNextOneBeganIsComplete(t *testing.T) {
	b := newBench(t, ingest.Config{}).start()
	s, after := newStory("thread", "turn-1", 1), newStory("thread", "turn-2", 2)
	root, second := s.run(nil, "agent", "chain", nil), after.run(nil, "agent", "chain", nil)
	b.post(append([]native{begin(root)}, s.model(root, nil)...)...)
	b.post(begin(second))
	time.Sleep(50 * time.Millisecond)
	b.post(s.end(root, says("one"), ""))
	b.post(after.end(second, says("two"), ""))
	runs := b.await("both turns", whole(2))
	check(t, runs)
	if got := outline(runs); got != twoTurns {
		t.Errorf("got\n%s, want\n%s", got, twoTurns)
	}
}

// spoils are what a strict server refuses a whole request for, and whether the run is
// lost for it.
var spoils = map[string]struct {
	spoil func(run map[string]any)
	lost  bool
}{
	"a huge integer": {func(run map[string]any) {
		run["inputs"] = map[string]any{"n": json.Number("123456789012345678901234")}
	}, false},
	"no UTF-8": {func(run map[string]any) { run["name"] = "execute QQ" }, false},
	"an early child": {func(run map[string]any) {
		order := run["dotted_order"].(string)
		run["dotted_order"] = order[:59] + "2020" + order[63:]
	}, false},
	"a list for inputs":   {func(run map[string]any) { run["inputs"] = []any{privately} }, true},
	"an unknown kind":     {func(run map[string]any) { run["run_type"] = "agent" }, true},
	"no start":            {func(run map[string]any) { delete(run, "start_time") }, true},
	"a time with no zone": {func(run map[string]any) { run["start_time"] = "2026-11-30T05:00:00" }, true},
	"events of words":     {func(run map[string]any) { run["events"] = []any{"x"} }, true},
	"no trace":            {func(run map[string]any) { delete(run, "trace_id") }, true},
}

const privately = "said between ourselves"

// spoiled is a turn, of which one run is wrong in a way.
func spoiled(spoil func(run map[string]any)) []native {
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	tool := s.run(root, "execute", "tool", nil)
	tool["inputs"] = map[string]any{"input": privately}
	spoil(tool)
	list := append([]native{begin(root), begin(tool)}, s.model(root, nil)...)
	return append(list, s.end(root, says("one"), ""))
}

func TestARunThatCannotBeReadCostsOnlyItself(t *testing.T) {
	theirs := newStory("their-thread", "their-turn", 1)
	other := begin(theirs.run(nil, "chain", "chain", map[string]any{"ls_integration": "langchain"}))
	for name, c := range spoils {
		for _, uri := range []string{"/runs/batch", "/runs/multipart"} {
			t.Run(name+uri, func(t *testing.T) {
				t.Parallel()
				upstream := newFar(t, http.StatusAccepted)
				url, token, dir := before(t, upstream.URL)
				body, kind := batchOf(append(spoiled(c.spoil), other)), "application/json"
				if uri == "/runs/multipart" {
					body, kind = multipartOf(append(spoiled(c.spoil), other))
				}
				body = bytes.ReplaceAll(body, []byte("QQ"), []byte("\xff\xfe"))
				ask(t, "POST", url+uri, http.Header{"X-Api-Key": {token}, "Content-Type": {kind}, "User-Agent": {"theirs"}}, body)
				passed := 0
				for _, each := range upstream.seen() {
					if each.Header.Get("User-Agent") != "theirs" {
						continue
					}
					passed++
					if strings.Contains(each.Body, privately) || !strings.Contains(each.Body, "their-thread") {
						t.Errorf("passed on: %s", each.Body)
					}
				}
				var want map[string]int64
				if c.lost {
					want = map[string]int64{DropUnreadable: 1}
				}
				if diff := cmp.Diff(want, losses(t, dir)); passed != 1 || diff != "" {
					t.Errorf("%d requests passed on, losses (-want +got)\n%s", passed, diff)
				}
			})
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, ingest.Config{}).start()
			b.post(spoiled(c.spoil)...)
			runs := b.await("the turn", func(runs []runtypes.Wire) bool {
				return len(runs) > 1 && runs[0].EndTime != "" && strings.Contains(outline(runs), "  llm ChatAnthropic\n")
			})
			check(t, runs)
			if lost := !strings.Contains(outline(runs), "  tool execute"); lost != c.lost {
				t.Errorf("got\n%s", outline(runs))
			}
		})
	}
}

// A run that names no trace stands beside one that is known for Deep Agents Code's.
func TestARunOfNobodyBesideALostOneIsLostWithIt(t *testing.T) {
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	delete(root, "start_time")
	nobodys := s.run(root, "execute", "tool", nil)
	delete(nobodys, "trace_id")
	delete(nobodys, "extra")
	theirs := newStory("their-thread", "their-turn", 1).run(nil, "chain", "chain", map[string]any{"ls_integration": "langchain"})
	for name, list := range map[string][]native{
		"alone":       {begin(root), begin(nobodys)},
		"with others": {begin(root), begin(nobodys), begin(theirs)},
	} {
		upstream := newFar(t, http.StatusAccepted)
		url, _, dir := before(t, upstream.URL)
		ask(t, "POST", url+"/runs/batch", http.Header{"X-Api-Key": {ownKey}, "User-Agent": {"theirs"}}, batchOf(list))
		for _, each := range upstream.seen() {
			if each.Header.Get("User-Agent") == "theirs" && strings.Contains(each.Body, "execute") {
				t.Errorf("%s: passed on: %s", name, each.Body)
			}
		}
		if lost := losses(t, dir); lost[DropUnreadable] != 2 {
			t.Errorf("%s: losses %v", name, lost)
		}
	}
}

func losses(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	state, err := journal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	drops, err := state.Drops()
	if err != nil {
		t.Fatal(err)
	}
	return drops
}

// What cannot be looked into might hold anything.
func TestWhatADeepAgentsClientSendsIsReadOrDoesNotLeave(t *testing.T) {
	whole, kind := multipartOf(spoiled(func(map[string]any) {}))
	var packed bytes.Buffer
	enc, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(whole, 1<<10) { // as a client does that compresses each run as it comes
		if _, err := enc.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := enc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		key, uri, kind, encoding string
		body                     []byte
		status                   int
	}{
		"half a form":                       {"", "/runs/multipart", kind, "", whole[:len(whole)/2], http.StatusUnprocessableEntity},
		"half a form, own key":              {ownKey, "/runs/multipart", kind, "", whole[:len(whole)/2], http.StatusUnprocessableEntity},
		"no JSON":                           {"", "/runs/batch", "application/json", "", []byte(`{"post":[{"inputs":"` + privately), http.StatusUnprocessableEntity},
		"nested without end":                {"", "/runs/batch", "application/json", "", []byte(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)), http.StatusUnprocessableEntity},
		"an unknown compression":            {"", "/runs/batch", "application/json", "br", []byte("x"), http.StatusUnsupportedMediaType},
		"not the compression":               {"", "/runs/batch", "application/json", "zstd", []byte(privately), http.StatusUnprocessableEntity},
		"more than is looked into":          {"", "/runs/batch", "application/json", "", bytes.Repeat([]byte(" "), maxBody+2), http.StatusRequestEntityTooLarge},
		"more than is looked into, own key": {ownKey, "/runs/multipart", kind, "", append(bytes.Clone(whole), bytes.Repeat([]byte(" "), maxBody)...), http.StatusRequestEntityTooLarge},
		"half of it compressed, own key":    {ownKey, "/runs/multipart", kind, "zstd", packed.Bytes()[:packed.Len()-9], http.StatusUnprocessableEntity},
		"spans":                             {"", "/otel/v1/traces", "application/x-protobuf", "", []byte("x"), http.StatusUnsupportedMediaType},
		"spans, own key":                    {ownKey, "/api/v1/otel/v1/traces", "application/x-protobuf", "gzip", gzipped(t, "\x0a\x0f"+Integration), http.StatusUnsupportedMediaType},
		"more spans than are looked into":   {"", "/otel/v1/traces", "application/x-protobuf", "", bytes.Repeat([]byte(" "), maxBody+2), http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			upstream := newFar(t, http.StatusAccepted)
			url, token, dir := before(t, upstream.URL)
			header := http.Header{"X-Api-Key": {token}, "Content-Type": {c.kind}}
			if c.key != "" {
				header.Set("X-Api-Key", c.key)
			}
			if c.encoding != "" {
				header.Set("Content-Encoding", c.encoding)
			}
			res, _ := ask(t, "POST", url+c.uri, header, c.body)
			if got := upstream.seen(); res.StatusCode != c.status || len(got) > 0 {
				t.Errorf("answered %d, want %d; %d requests passed on", res.StatusCode, c.status, len(got))
			}
			if lost := losses(t, dir); lost[DropUnreadable]+lost[journal.DropTooLarge] != 1 {
				t.Errorf("losses %v", lost)
			}
		})
	}
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The others of a request keep the bytes between their braces.
func TestOfAMixedBatchTheOthersKeepTheirSpaces(t *testing.T) {
	ours, err := json.Marshal(spoiled(func(map[string]any) {})[0].run)
	if err != nil {
		t.Fatal(err)
	}
	const theirs = `{ "id" : "019f0000-0000-7000-8000-0000000000aa", "trace_id": "019f0000-0000-7000-8000-0000000000aa",` +
		` "dotted_order":"20261130T050000000000Z019f0000-0000-7000-8000-0000000000aa", "name":"<a & b>","run_type":"chain","start_time":"2026-11-30T05:00:00Z", "inputs":{"n": 1.50 } }`
	upstream := newFar(t, http.StatusAccepted)
	url, token, _ := before(t, upstream.URL)
	ask(t, "POST", url+"/runs/batch", http.Header{"X-Api-Key": {token}, "User-Agent": {"theirs"}},
		[]byte(`{"more": true, "post": [ `+string(ours)+` , `+theirs+` ], "patch": []}`))
	for _, each := range upstream.seen() {
		if each.Header.Get("User-Agent") == "theirs" && each.Body != `{"more":true,"post":[`+theirs+`]}` {
			t.Errorf("got %s", each.Body)
		}
	}
}

func TestNamesThatAreTooLongCostTheirTurnAlone(t *testing.T) {
	b := newBench(t, ingest.Config{}).start()
	long, s := newStory(strings.Repeat("t", maxNames), "turn-0", 1), newStory("thread", "turn-1", 1)
	bad, root := long.run(nil, "agent", "chain", nil), s.run(nil, "agent", "chain", nil)
	b.post(begin(bad), begin(root), s.end(root, says("one"), ""))
	if got, want := outline(b.await("the turn", whole(1))), "root agent\n"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if lost := losses(t, b.dir); lost[journal.DropTooLarge] != 1 {
		t.Errorf("losses %v", lost)
	}
}
