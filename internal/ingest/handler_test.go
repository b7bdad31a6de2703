package ingest_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tracesmith/tracesmith/internal/ingest"
)

func zstdOf(t *testing.T, s string) string {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	return string(enc.EncodeAll([]byte(s), nil))
}

func gzipOf(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEveryEncodingAndBaseStoresTheSameRuns(t *testing.T) {
	body := form(
		post(rootID, rootRun),
		part{name: "post." + rootID + ".inputs", body: `{"q":"a < b \ud83d\ude00"}`},
		part{name: "post." + rootID + ".error", body: `"boom"`},
		part{name: "post." + childID, body: childRun, headers: fmt.Sprintf("Content-Type: application/json; length=%d\r\n", len(childRun))},
		part{name: "attachment." + childID + ".shot", body: "png", headers: "Content-Type: image/png; length=3\r\n"},
		part{name: "feedback." + childID, body: `{"trace_id":"` + rootID + `"}`},
		patch(rootID, rootEnd),
	)
	for _, tc := range []struct{ encoding, body, path string }{
		{"", body, "/runs/multipart"},
		{"zstd", zstdOf(t, body), "/runs/multipart"},
		{"gzip", gzipOf(t, body), "/api/v1/runs/multipart"},
	} {
		t.Run(tc.encoding, func(t *testing.T) {
			s := start(t, ingest.Config{})
			want(t, s, http.StatusAccepted, request{path: tc.path, body: tc.body,
				header: map[string]string{"Content-Encoding": tc.encoding, "Content-Type": multipart}})
			runs := s.Memory().Runs()
			if len(runs) != 2 {
				t.Fatalf("%d runs", len(runs))
			}
			root := runs[0]
			if root.ID != rootID || root.Error != "boom" || string(root.Inputs) != `{"q":"a < b \ud83d\ude00"}` ||
				root.EndTime != "2026-11-30T12:00:09.000000Z" || root.SessionName != "p" {
				t.Errorf("root: %+v", root)
			}
			if runs[1].ID != childID || runs[1].ParentRunID != rootID {
				t.Errorf("child: %+v", runs[1])
			}
			stats := s.Stats()
			if stats.Posts != 2 || stats.Patches != 1 || stats.MaxOps != 3 || stats.Requests != 1 ||
				stats.Wire != int64(len(tc.body)) || stats.Decoded != int64(len(body)) || stats.Statuses[202] != 1 ||
				stats.Dropped["attachment"] != 1 || stats.Dropped["feedback"] != 1 {
				t.Errorf("%+v", stats)
			}
		})
	}
}

func TestBatchAndSingleEndpoints(t *testing.T) {
	s := start(t, ingest.Config{})
	want(t, s, 202, request{path: "/runs/batch", body: `{"post":[` + rootRun + `,` + childRun + `],"patch":[` + rootEnd + `]}`})
	// A single root may leave out what follows from it; JavaScript's end is a number.
	const other = "019ad3a0-0000-7000-8000-00000000000a"
	want(t, s, 202, request{path: "/runs", body: `{"id":"` + other + `","name":"x","run_type":"chain","start_time":"2026-11-30T13:00:00+01:00"}`})
	want(t, s, 202, request{method: http.MethodPatch, path: "/api/v1/runs/" + childID,
		body: `{"trace_id":"` + rootID + `","dotted_order":"` + childOrder + `","end_time":1796040002500,"outputs":{"a":1}}`})

	child, _ := s.Memory().Run(childID)
	if child.EndTime != "2026-11-30T12:00:02.500000Z" || string(child.Outputs) != `{"a":1}` {
		t.Errorf("child: %+v", child)
	}
	single, _ := s.Memory().Run(other)
	if single.DottedOrder != "20261130T120000000000Z"+other || single.TraceID != other || single.StartTime != "2026-11-30T12:00:00.000000Z" {
		t.Errorf("single: %+v", single)
	}
	if c := s.Memory().Counts(); c != (ingest.Counts{Posts: 3, Patches: 2}) {
		t.Errorf("%+v", c)
	}
}

func TestASecondWriteOfAKindIsAConflict(t *testing.T) {
	both := form(post(rootID, rootRun), post(childID, childRun))
	for _, tc := range []struct {
		conflict ingest.Conflict
		stored   int
	}{{ingest.RefuseAll, 1}, {ingest.KeepNew, 2}} {
		s := start(t, ingest.Config{Conflict: tc.conflict})
		want(t, s, 202, request{body: form(post(rootID, rootRun))})
		a := want(t, s, 409, request{body: both})
		if !strings.Contains(a.body, "payload already received") {
			t.Errorf("%s", a.body)
		}
		if n := len(s.Memory().Runs()); n != tc.stored {
			t.Errorf("conflict %d: %d runs, want %d", tc.conflict, n, tc.stored)
		}
		want(t, s, 202, request{body: form(patch(rootID, rootEnd))})
		want(t, s, 409, request{body: form(patch(rootID, rootEnd))})
		if s.Stats().Known != 2 {
			t.Errorf("known %d", s.Stats().Known)
		}
	}
}

func TestAPatchMayComeBeforeItsPost(t *testing.T) {
	s := start(t, ingest.Config{})
	want(t, s, 202, request{body: form(patch(rootID, rootEnd))})
	if orphans := s.Memory().Orphans(); len(orphans) != 1 || orphans[0] != rootID {
		t.Errorf("orphans %v", orphans)
	}
	want(t, s, 202, request{body: form(post(rootID, rootRun))})
	run, _ := s.Memory().Run(rootID)
	if run.Name != "Turn" || run.EndTime == "" || len(s.Memory().Orphans()) != 0 || s.Memory().Counts().Early != 1 {
		t.Errorf("%+v", run)
	}
}

func TestAKeyIsDemandedWhereOneIsSet(t *testing.T) {
	s := start(t, ingest.Config{Key: "lsv2_pt_k"})
	body := form(post(rootID, rootRun))
	want(t, s, 401, request{body: body})
	want(t, s, 401, request{body: body, header: map[string]string{"X-Api-Key": "lsv2_pt_x"}})
	if n := len(s.Memory().Runs()); n != 0 {
		t.Fatalf("%d runs without a key", n)
	}
	want(t, s, 202, request{body: body, header: map[string]string{"X-Api-Key": "lsv2_pt_k"}})
	want(t, s, 409, request{body: body, header: map[string]string{"Authorization": "Bearer lsv2_pt_k"}})
	want(t, s, 200, request{method: http.MethodGet, path: "/info"})
}

func TestTooLargeIsRefusedBeforeAndAfterDecompression(t *testing.T) {
	big := form(post(rootID, rootRun), part{name: "post." + rootID + ".inputs", body: `{"a":"` + strings.Repeat("a", 1<<20) + `"}`})
	s := start(t, ingest.Config{Limits: ingest.Limits{Wire: 64 << 10, Decoded: 256 << 10}})
	want(t, s, 413, request{body: big})
	want(t, s, 413, request{body: zstdOf(t, big), header: map[string]string{"Content-Encoding": "zstd"}})
	want(t, s, 413, request{body: gzipOf(t, big), header: map[string]string{"Content-Encoding": "gzip"}})
	want(t, s, 202, request{body: form(post(rootID, rootRun))})
}

func TestFeaturesCanBeMissing(t *testing.T) {
	body := form(post(rootID, rootRun))
	s := start(t, ingest.Config{Without: ingest.Without{Info: true, Multipart: true}})
	want(t, s, 404, request{method: http.MethodGet, path: "/info"})
	want(t, s, 404, request{body: body})
	want(t, s, 202, request{path: "/runs/batch", body: `{"post":[` + rootRun + `]}`})

	s = start(t, ingest.Config{Without: ingest.Without{Zstd: true, Gzip: true}, Limits: ingest.Limits{Ops: 7}})
	for _, encoding := range []string{"zstd", "gzip", "br"} {
		want(t, s, 415, request{body: body, header: map[string]string{"Content-Encoding": encoding}})
	}
	a := want(t, s, 200, request{method: http.MethodGet, path: "/api/v1/info"})
	var info struct {
		Batch struct {
			Multipart bool `json:"use_multipart_endpoint"`
			Ops       int  `json:"size_limit"`
			Bytes     int  `json:"size_limit_bytes"`
		} `json:"batch_ingest_config"`
		Flags map[string]bool `json:"instance_flags"`
	}
	if err := json.Unmarshal([]byte(a.body), &info); err != nil {
		t.Fatal(err)
	}
	if !info.Batch.Multipart || info.Batch.Ops != 7 || info.Batch.Bytes != 20<<20 || info.Flags["zstd_compression_enabled"] || info.Flags["gzip_body_enabled"] {
		t.Errorf("%+v", info)
	}
}

func TestManyClientsAtOnceStoreEachRunOnce(t *testing.T) {
	s := start(t, ingest.Config{})
	const clients, runs = 8, 20
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() { // every client sends the same runs
			for i := range runs {
				id := fmt.Sprintf("019ad3a0-0000-7000-8000-%012d", i)
				a, err := send(t, s, request{body: form(post(id, strings.ReplaceAll(rootRun, rootID, id)))})
				if err != nil || a.status != 202 && a.status != 409 {
					t.Errorf("%+v %v", a, err)
				}
			}
		})
	}
	wg.Wait()
	stats := s.Stats()
	if stats.Posts != runs || stats.Known != (clients-1)*runs || len(s.Memory().Runs()) != runs || s.Memory().Counts().Again != 0 {
		t.Errorf("%+v %+v", stats, s.Memory().Counts())
	}
}

func TestObserveSeesTheDecodedBody(t *testing.T) {
	body := form(post(rootID, rootRun))
	var mu sync.Mutex
	var seen []string
	s := start(t, ingest.Config{Observe: func(r *http.Request, b []byte) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Header.Get("X-Tenant-Id")+" "+string(b))
	}})
	want(t, s, 202, request{body: zstdOf(t, body), header: map[string]string{"Content-Encoding": "zstd", "X-Tenant-Id": "w"}})
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != 1 || seen[0] != "w "+body {
		t.Errorf("%q", seen)
	}
}
