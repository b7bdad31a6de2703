package relay

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

var update = flag.Bool("update", false, "rewrite the goldens")

var recordings = []string{"plain", "dasub", "hang"}

// ways are how clients may send the same writes.
var ways = map[string]func(b *bench, list []native){
	"whole, in one request":  func(b *bench, list []native) { b.post(list...) },
	"halves, in one request": func(b *bench, list []native) { b.post(halves(list)...) },
	"whole, one by one":      func(b *bench, list []native) { b.oneByOne(list) },
	"halves, one by one":     func(b *bench, list []native) { b.oneByOne(halves(list)) },
	"children first": func(b *bench, list []native) {
		list = slices.Clone(list)
		slices.Reverse(list)
		b.post(list...)
	},
	"multipart": func(b *bench, list []native) {
		body, contentType := multipartOf(halves(list))
		req, err := http.NewRequest(http.MethodPost, b.url+"/runs/multipart", bytes.NewReader(body))
		if err != nil {
			b.t.Fatal(err)
		}
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("X-Api-Key", b.token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			b.t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusAccepted {
			b.t.Fatal(res.Status)
		}
	},
}

func (b *bench) oneByOne(list []native) {
	b.t.Helper()
	for _, each := range list {
		b.post(each)
	}
}

func TestNativeTracesComeOutAsOneValidTreeHoweverTheyAreSent(t *testing.T) {
	for _, name := range recordings {
		for way, send := range ways {
			t.Run(name+"/"+way, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, ingest.Config{}).start()
				send(b, fixture(t, name))
				runs := b.await("the turn", allOf(t, name))
				check(t, runs)
				golden(t, name, runs)
			})
		}
	}
}

func TestWhatIsPostedTwiceCountsOnce(t *testing.T) {
	for _, name := range recordings {
		b := newBench(t, ingest.Config{}).start()
		list := halves(fixture(t, name))
		b.oneByOne(list)
		runs := b.await("the turn", allOf(t, name))
		counts := b.langsmith.Memory().Counts()
		b.oneByOne(list)
		b.post(fixture(t, name)...)
		b.stop() // which waits for what is under way
		b.start()
		b.post(list...)
		time.Sleep(400 * time.Millisecond)
		if got := b.langsmith.Memory().Counts(); got != counts {
			t.Errorf("%s: counts %+v, want %+v", name, got, counts)
		}
		if diff := cmp.Diff(runs, b.langsmith.Memory().Runs()); diff != "" {
			t.Errorf("%s: (-once +twice)\n%s", name, diff)
		}
	}
}

func TestAKilledRelayLosesNothingThatItAnsweredFor(t *testing.T) {
	list := halves(fixture(t, "dasub"))
	for _, at := range []int{1, 7, len(list) / 2, len(list) - 1} {
		b := newBench(t, ingest.Config{})
		child := b.spawn()
		b.oneByOne(list[:at])
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait()
		b.spawn()
		b.oneByOne(list[at:])
		runs := b.await("the turn", allOf(t, "dasub"))
		check(t, runs)
		golden(t, "dasub", runs)
	}
}

func TestATurnWaitsOnDiskWhileLangSmithIsAway(t *testing.T) {
	b := newBench(t, ingest.Config{}).start()
	if err := b.langsmith.Refuse(); err != nil {
		t.Fatal(err)
	}
	b.post(fixture(t, "plain")...)
	b.stop()
	if err := b.langsmith.Resume(); err != nil {
		t.Fatal(err)
	}
	b.start()
	golden(t, "plain", b.await("the turn", allOf(t, "plain")))
}

// allOf reports whether a recording's turn has ended and all of its runs are there: of one
// that is sent whole the root may end before the others come.
func allOf(t *testing.T, name string) func([]runtypes.Wire) bool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "golden", name+".json"))
	var want []json.RawMessage
	if err == nil {
		err = json.Unmarshal(raw, &want)
	}
	if err != nil && !*update {
		t.Fatal(err)
	}
	return func(runs []runtypes.Wire) bool { return whole(1)(runs) && (*update || len(runs) == len(want)) }
}

func golden(t *testing.T, name string, runs []runtypes.Wire) {
	t.Helper()
	var text bytes.Buffer
	text.WriteString("[\n")
	for i, w := range runs {
		raw, err := runtypes.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		raw = bytes.ReplaceAll(raw, []byte(runtypes.Version()), []byte("VERSION"))
		if i > 0 {
			text.WriteString(",\n")
		}
		if err := json.Indent(&text, raw, "", " "); err != nil {
			t.Fatal(err)
		}
	}
	text.WriteString("\n]\n")
	path := filepath.Join("testdata", "golden", name+".json")
	if *update {
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("%s: (-golden +got)\n%s", name, diff)
	}
}

// What has another shape than it used to have costs itself alone.
func TestUsageOfAnotherShapeKeepsWhatIsKnown(t *testing.T) {
	for outputs, want := range map[string]*runtypes.Usage{
		`{"usage_metadata":{"input_tokens":10,"output_tokens":2,"input_token_details":{"cache_read":4,"audio":1.5,"tiers":{"a":1}}}}`: {
			Input: 10, Output: 2, CacheRead: 4, InputDetails: map[string]int64{"audio": 0, "tiers": 0},
		},
		`{"generations":[[{"message":{"usage_metadata":"none","kwargs":{"usage_metadata":{"input_tokens":3,"output_tokens":1}}}}]],"usage_metadata":7}`: {Input: 3, Output: 1},
		`{"generations":{}}`:                         nil,
		`{"usage_metadata":{"input_tokens":"many"}}`: nil,
	} {
		if diff := cmp.Diff(want, usageOf(&write{wire: runtypes.Wire{Outputs: json.RawMessage(outputs)}})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", outputs, diff)
		}
	}
}
