package exporter

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/runtypes"
)

// The vectors are what LangSmith's own JS client (0.12.0) derives.
func TestIDsAreRemappedAsLangSmithsClientsDo(t *testing.T) {
	long := "a project with a long name, so that the hash takes another road: " + strings.Repeat("x", 300)
	check := func(id, project, want string) {
		t.Helper()
		if got := remapID(uuid.MustParse(id), "20261130T040506007008Z", project).String(); got != want {
			t.Errorf("%s in %.10s: %s, want %s", id, project, got, want)
		}
	}
	check("0193e0a8-7c1f-7b3a-8d2e-1f0a9b8c7d6e", "evals", "0193e0a8-7c1f-7585-96ed-de42611905c7")
	check("0193e0a8-7c1f-7b3a-8d2e-1f0a9b8c7d6e", long, "0193e0a8-7c1f-7f11-9f87-b4612deefd04")
	check("0193e0a8-7c1f-7b3a-8d2e-000000000001", "evals", "0193e0a8-7c1f-7443-b31a-df0eafa0390a")
	check("0193e0a8-7c1f-7b3a-8d2e-000000000001", long, "0193e0a8-7c1f-7ee9-9595-79aeef100de4")
	check("019ad000-0000-7000-8000-0000000000ff", "evals", "019ad000-0000-7723-983f-278353ec8cb2")
	check("01a22aa0-b950-7f8f-a3b8-183d3a0cbba9", long, "01a22aa0-b950-791f-bc3d-0b6b754e8860")
	// An id that is no UUIDv7 takes its time from the run, so that post and patch agree.
	if got := remapID(uuid.MustParse("0e01bf50-474d-4536-810f-67d3ee7ea3e7"), "20261130T040506007008Z", "evals"); got.Version() != 7 ||
		time.Unix(got.Time().UnixTime()).UTC().Format(time.DateTime) != "2026-11-30 04:05:06" {
		t.Errorf("%s, of %v", got, time.Unix(got.Time().UnixTime()).UTC())
	}
}

func TestARemappedRunAgreesWithItself(t *testing.T) {
	for _, op := range turn(1, 2) {
		cfg, _ := Config{Redact: NoRedaction}.withDefaults()
		cfg.replica = &Replica{Project: "elsewhere"}
		r, err := serialise(op, &cfg)
		if err != nil {
			t.Fatal(err)
		}
		w, err := r.head()
		if err != nil {
			t.Fatal(err)
		}
		if r.id != w.ID || w.ID == op.Run.ID.String() || w.SessionName != "elsewhere" {
			t.Errorf("%+v", w)
		}
		segments := strings.Split(w.DottedOrder, ".")
		if last := segments[len(segments)-1]; last[segmentTime:] != w.ID || segments[0][segmentTime:] != w.TraceID {
			t.Errorf("%+v", w)
		}
		if len(segments) > 1 && segments[len(segments)-2][segmentTime:] != w.ParentRunID {
			t.Errorf("%+v", w)
		}
	}
}

func TestWhoKeepsItsIDs(t *testing.T) {
	yes, no := true, false
	check := func(name string, r Replica, keeps bool) {
		cfg, _ := Config{Project: "mine"}.withDefaults()
		cfg.replica = &r
		rec, err := serialise(post(pending(1)), &cfg)
		if err != nil {
			t.Fatal(err)
		}
		if kept := rec.id == pending(1).ID.String(); kept != keeps {
			t.Errorf("%s: kept %t", name, kept)
		}
	}
	check("the same project", Replica{Project: "mine"}, true)
	check("no project of its own", Replica{}, true)
	check("another project", Replica{Project: "other"}, false)
	check("primary in another project", Replica{Project: "other", Primary: &yes}, true)
	check("no primary in the same project", Replica{Primary: &no}, false)
}

func TestUpdatesAreLaidOverTheRun(t *testing.T) {
	cfg, _ := Config{}.withDefaults()
	cfg.replica = &Replica{Updates: map[string]any{
		"metadata": map[string]any{"tier": "copy"}, "tags": []string{"copy"}, "outputs": map[string]any{}, "id": "nonsense",
	}}
	run := ended(1)
	r, err := serialise(post(run), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	var w runtypes.Wire
	if err := json.Unmarshal(r.appendJSON(nil), &w); err != nil {
		t.Fatal(err)
	}
	meta := w.Metadata()
	if w.ID != run.ID.String() || len(w.Tags) != 1 || w.Tags[0] != "copy" || string(w.Outputs) != "{}" ||
		meta["tier"] != "copy" || meta["thread_id"] != "thread" {
		t.Errorf("%+v, metadata %v", w, meta)
	}
}

func TestADeadReplicaDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good, dead, d := newLangsmith(t), newLangsmith(t), new(drops)
		dead.answer = always(&reply{hang: true})
		both := roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host == "dead.localhost" {
				return dead.RoundTrip(r)
			}
			if key := r.Header.Get("X-Api-Key"); key != "good" {
				t.Errorf("key %q", key)
			}
			return good.RoundTrip(r)
		})
		cfg := config(both, d)
		cfg.Replicas = []Replica{{Endpoint: "http://dead.localhost", APIKey: "dead"}, {Endpoint: "http://good.localhost", APIKey: "good", WorkspaceID: "w"}}
		b, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		submit(t, b, posts(0, 10)...)
		time.Sleep(DefaultInterval)
		synctest.Wait()
		if len(good.runs) != 10 || time.Since(start) > DefaultInterval {
			t.Errorf("%d runs after %v", len(good.runs), time.Since(start))
		}
		if got := good.calls[0].header; got.Get("X-Tenant-Id") != "w" {
			t.Errorf("%v", got)
		}
		if got := dead.calls[0].header; got.Get("X-Api-Key") != "dead" || got.Get("X-Tenant-Id") != "" {
			t.Errorf("%v", got)
		}
		cancelled, cancel := timeout(time.Second)
		defer cancel()
		b.Shutdown(cancelled)
		if stats := b.ReplicaStats(); stats[0].Dropped[ReasonShutdown] != 10 || stats[1].Delivered != 10 || b.Stats().Delivered != 10 {
			t.Errorf("%+v", stats)
		}
		if d.why[0].Endpoint != "http://dead.localhost" {
			t.Errorf("%+v", d.why[0])
		}
	})
}

func TestReplicasThatCannotBeAreRefused(t *testing.T) {
	yes := true
	for _, cfg := range []Config{
		{Replicas: []Replica{{Primary: &yes}, {Primary: &yes}}},
		{Replicas: []Replica{{Endpoint: "ftp://x"}}},
		{Replicas: []Replica{{Updates: map[string]any{"inputs": []int{1}}}}},
		{Replicas: []Replica{{Updates: map[string]any{"tags": "a"}}}},
		{Replicas: []Replica{{Updates: map[string]any{"name": 7}}}},
		{Replicas: []Replica{{Updates: map[string]any{"later": func() {}}}}},
	} {
		if b, err := New(cfg); err == nil {
			t.Errorf("%+v makes %v", cfg, b)
		}
	}
	if c, err := NewClient(Config{Replicas: []Replica{{}}}); err == nil {
		t.Error(c)
	}
}

func TestARerootedTurnIsATraceOfItsOwn(t *testing.T) {
	above := pending(9)
	p := runtypes.Parent{DottedOrder: above.DottedOrder, ID: above.ID, TraceID: above.TraceID, Start: someTime}
	joined := runtypes.Join(p, idgen.New(), someTime, someone)
	inner := runtypes.Tool(joined, idgen.New(), someTime, "bash")
	check := func(r Replica, op runtypes.Op, trace, parent string, segments int) {
		t.Helper()
		cfg, _ := Config{Project: "mine"}.withDefaults()
		cfg.replica = &r
		rec, err := serialise(op, &cfg)
		if err != nil {
			t.Fatal(err)
		}
		w, err := rec.head()
		if err != nil {
			t.Fatal(err)
		}
		list := strings.Split(w.DottedOrder, ".")
		if w.TraceID != trace || w.ParentRunID != parent || len(list) != segments || list[0][segmentTime:] != trace || strings.Contains(string(rec.main), "reroot") {
			t.Errorf("%s", rec.main)
		}
	}
	own := joined.ID.String()
	check(Replica{Reroot: true}, post(joined), own, "", 1)
	check(Replica{Reroot: true}, patch(inner), own, own, 2)
	check(Replica{Updates: map[string]any{"reroot": true}}, post(inner), own, own, 2)
	check(Replica{Updates: map[string]any{"reroot": false}}, post(inner), above.ID.String(), own, 3)
	there := remapID(joined.ID, joined.DottedOrder[len(above.DottedOrder)+1:], "other").String()
	check(Replica{Reroot: true, Project: "other"}, post(inner), there, there, 2)
	check(Replica{Reroot: true}, post(above), above.ID.String(), "", 1)
}

func TestANullUpdateLeavesAMemberOut(t *testing.T) {
	cfg, _ := Config{}.withDefaults()
	cfg.replica = &Replica{Updates: map[string]any{"outputs": nil, "tags": nil, "metadata": map[string]any{"thread_id": nil}}}
	run := ended(1)
	run.Tags = []string{"a"}
	r, err := serialise(post(run), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"null", `"outputs"`, `"tags"`, "thread_id"} {
		if all := string(r.appendJSON(nil)); strings.Contains(all, gone) {
			t.Errorf("%s stands in %s", gone, all)
		}
	}
}

func TestAReplicaNeverGetsWhatAuthenticatesElsewhere(t *testing.T) {
	cfg := Config{
		APIKey: "key", WorkspaceID: "w", Credentials: http.Header{"Cookie": {"c"}},
		Replicas: []Replica{
			{Endpoint: "https://other.test"},
			{Endpoint: DefaultEndpoint + "/"}, // the same, spelled otherwise
			{Credentials: http.Header{"X-Service-Key": {"s"}}},
		},
	}
	list, err := cfg.Split()
	if err != nil {
		t.Fatal(err)
	}
	if c := list[0]; c.APIKey != "" || c.WorkspaceID != "" || len(c.Credentials) > 0 {
		t.Errorf("%+v", c)
	}
	if c := list[1]; c.APIKey != "key" || c.WorkspaceID != "w" || c.Credentials.Get("Cookie") != "c" {
		t.Errorf("%+v", c)
	}
	if c := list[2]; c.APIKey != "" || c.Credentials.Get("X-Service-Key") != "s" || c.Credentials.Get("Cookie") != "" {
		t.Errorf("%+v", c)
	}
}
