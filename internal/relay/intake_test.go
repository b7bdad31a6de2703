package relay

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/runtypes"
)

// deepagents#3634: what stands on a root is not always handed on to what is below it.
func TestARunThatWasToldNothingBelongsToItsTurn(t *testing.T) {
	b := newBench(t, ingest.Config{}).start()
	before, s := newStory("thread", "turn-0", 1), newStory("thread", "turn-1", 1)
	first := before.run(nil, "agent", "chain", nil)
	b.post(begin(first), before.end(first, says("ok"), ""))
	root := s.run(nil, "agent", "chain", nil)
	node := s.run(root, "helper", "chain", nil)
	bare := s.run(node, "execute", "tool", nil)
	bare["extra"] = map[string]any{}
	later := s.run(node, "read_file", "tool", nil)
	later["extra"] = map[string]any{}
	b.post(begin(bare), s.end(bare, nil, ""), begin(node))
	b.post(begin(later), s.end(later, nil, ""))
	b.post(begin(root), s.end(node, nil, ""), s.end(root, says("ok"), ""))
	runs := b.await("the turn", whole(2))
	check(t, runs)
	runs = slices.DeleteFunc(runs, func(w runtypes.Wire) bool { return w.TraceID != root["trace_id"] })
	if got, want := outline(runs), "root agent\n  chain helper\n    tool execute\n    tool read_file\n"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	for _, w := range runs {
		if meta := w.Metadata(); meta["thread_id"] != "thread" || meta["turn_id"] != "turn-1" || fmt.Sprint(meta["turn_number"]) != "2" || meta["cwd"] != "/home/dev/widgets" {
			t.Errorf("%s: %v", w.Name, meta)
		}
	}
}

// An intake whose folders say something of what is kept.
func newIntake(t *testing.T, rules func(dir string) Rules) *intake {
	t.Helper()
	state, err := journal.Open(filepath.Join(t.TempDir(), "v1"))
	if err != nil {
		t.Fatal(err)
	}
	return &intake{state: state, index: openedIndex(t, t.TempDir()), rules: rules, now: time.Now}
}

func (in *intake) put(t *testing.T, list ...native) sorted {
	t.Helper()
	var writes ingest.Writes
	for _, each := range list {
		raw, err := json.Marshal(each.run)
		if err != nil {
			t.Fatal(err)
		}
		var w runtypes.Wire
		if err := json.Unmarshal(raw, &w); err != nil {
			t.Fatal(err)
		}
		if each.verb == runtypes.Post {
			writes.Posts = append(writes.Posts, w)
		} else {
			writes.Patches = append(writes.Patches, w)
		}
	}
	s := in.sort(writes)
	if _, err := in.keep(s.ours, journal.Proc{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// A model call that comes alone says neither whose it is nor in which folder.
func TestAModelCallOfATurnThatIsNotTracedStaysHere(t *testing.T) {
	in := newIntake(t, func(dir string) Rules { return Rules{Off: dir == "/home/dev/widgets"} })
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	call := s.run(root, "ChatAnthropic", "llm", nil)
	call["extra"] = map[string]any{"metadata": map[string]any{"ls_integration": "langchain_chat_model"}}
	in.put(t, begin(root))
	if s := in.put(t, begin(call)); len(s.ours) != 1 {
		t.Error("taken for another program's")
	}
	if kept, err := in.state.Sessions(); err != nil || len(kept) > 0 {
		t.Errorf("%d turns are kept, %v", len(kept), err)
	}
}

func TestAllRunsOfATurnAreKeptByTheRulesOfItsFolder(t *testing.T) {
	in := newIntake(t, func(dir string) Rules { return Rules{Policy: journal.Policy{Content: dir}} })
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	call := s.run(root, "execute", "tool", nil)
	call["extra"] = map[string]any{}
	in.put(t, begin(root))
	in.put(t, begin(call))
	in.put(t, begin(newStory("thread", "turn-2", 2).run(nil, "agent", "chain", map[string]any{"cwd": "/elsewhere"})))
	session := in.state.Session(Name, place{Thread: "thread", Turn: "turn-1"}.session())
	lines := 0
	for _, record := range read(t, session) {
		if lines++; record.Entry.Policy.Content != "/home/dev/widgets" || record.Entry.CWD != "/home/dev/widgets" {
			t.Errorf("%s: %+v in %q", record.Entry.Event, record.Entry.Policy, record.Entry.CWD)
		}
	}
	if lines != 3 {
		t.Errorf("%d lines", lines)
	}
}

// Clients have several requests under way: the one with the root may be behind.
func TestAModelCallBeforeItsRootStaysHere(t *testing.T) {
	upstream := newFar(t, http.StatusAccepted)
	url, token, _ := before(t, upstream.URL)
	s := newStory("thread", "turn-1", 1)
	root := s.run(nil, "agent", "chain", nil)
	node := s.run(root, "model", "chain", nil)
	send := func(want int, list ...native) {
		t.Helper()
		res, _ := ask(t, "POST", url+"/runs/batch", http.Header{"X-Api-Key": {token}, "User-Agent": {"theirs"}}, batchOf(list))
		if res.StatusCode != want {
			t.Errorf("%s, want %d", res.Status, want)
		}
	}
	python := s.run(node, "ChatAnthropic", "llm", map[string]any{"ls_integration": "langchain_chat_model"})
	send(http.StatusAccepted, begin(python))
	s = newStory("thread", "turn-2", 2)
	root = s.run(nil, "agent", "chain", nil)
	node = s.run(root, "model", "chain", nil)
	bare := s.run(node, "ChatAnthropic", "llm", nil)
	bare["extra"] = map[string]any{"metadata": map[string]any{"ls_integration": "langchain_chat_model", "langgraph_node": "model"}}
	send(http.StatusServiceUnavailable, begin(bare))
	send(http.StatusAccepted, begin(root))
	send(http.StatusAccepted, begin(bare))
	for _, each := range upstream.seen() {
		if each.Header.Get("User-Agent") == "theirs" {
			t.Errorf("sent on: %s", each.Body)
		}
	}
}

// A turn's journal has its bounds; each call of a model comes with the whole conversation,
// and so does each piece of the graph around it.
func TestALongConversationIsKeptToItsEnd(t *testing.T) {
	in := newIntake(t, func(string) Rules { return Rules{} })
	s := newStory("thread", "turn-1", 1)
	talk := map[string]any{"messages": []any{map[string]any{"type": "human", "content": strings.Repeat("so ", 1<<17)}}}
	root := s.run(nil, "agent", "chain", nil)
	in.put(t, begin(root))
	for range 8 {
		list := s.model(root, nil)
		node, call := list[0], list[1]
		node.run["inputs"], call.run["inputs"] = talk, talk
		list[3].run["outputs"] = talk
		for _, name := range []string{"SkillsMiddleware.before_model", "GuardMiddleware.after_model"} {
			around := s.run(root, name, "chain", nil)
			around["inputs"] = talk
			list = append(list, begin(around), s.end(around, talk, ""))
		}
		in.put(t, list...)
	}
	session := in.state.Session(Name, place{Thread: "thread", Turn: "turn-1"}.session())
	size, err := session.Sizes()
	if err != nil || size["journal.jsonl"] > 4<<20 {
		t.Errorf("the journal has %v bytes, %v", size, err)
	}
	if err := os.Truncate(filepath.Join(session.Dir(), "journal.jsonl"), journal.MaxJournal-3000); err != nil {
		t.Fatal(err)
	}
	in.put(t, s.end(root, talk, ""))
	if drops, err := in.state.Drops(); err != nil || drops[journal.Shortened] != 1 || len(drops) != 1 {
		t.Errorf("losses %v, %v", drops, err)
	}
	in.put(t, begin(s.run(root, "execute", "tool", nil)))
	in.put(t, begin(s.run(root, "execute", "tool", nil)))
	if drops, err := in.state.Drops(); err != nil || drops[journal.DropFull] == 0 {
		t.Errorf("losses %v, %v", drops, err)
	}
}

func TestACallWithoutRoomForItsContentSaysWhatItCost(t *testing.T) {
	s := newStory("thread", "turn-1", 1)
	raw, err := json.Marshal(s.model(s.run(nil, "agent", "chain", nil), nil)[2].run)
	if err != nil {
		t.Fatal(err)
	}
	var w runtypes.Wire
	if err := json.Unmarshal(raw, &w); err != nil {
		t.Fatal(err)
	}
	w.Inputs = json.RawMessage(`{"messages":[]}`)
	w = bare(w)
	if u := usageOf(&write{wire: w}); u == nil || u.Input != 10 || u.Output != 2 {
		t.Errorf("it cost %+v", u)
	}
	if !strings.Contains(string(w.Inputs), "inputs of 15 bytes left out") || strings.Contains(string(w.Outputs), "generations") {
		t.Errorf("%s, %s", w.Inputs, w.Outputs)
	}
}

func read(t *testing.T, session *journal.Session) (list []journal.Record) {
	t.Helper()
	sizes, err := session.Sizes()
	if err != nil {
		t.Fatal(err)
	}
	for record, err := range session.Read(journal.Positions{}, sizes) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, record)
	}
	return list
}
