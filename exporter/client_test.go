package exporter

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracesmith/tracesmith/runtypes"
)

func TestEveryFieldOfARunArrivesOnceInItsPlace(t *testing.T) {
	s := newLangsmith(t)
	run := ended(1)
	run.Inputs = json.RawMessage(`{"q":"a < b && c > d"}`)
	run.Error = "it \"broke\"\n"
	run.Events = []runtypes.RunEvent{{Name: "new_token", Time: someTime}}
	run.Tags = []string{"a"}
	cfg := config(s, nil)
	cfg.WorkspaceID = " 'workspace' "
	export(t, newTestClient(t, cfg), post(run))

	if got := s.seen(); len(got) != 1 {
		t.Fatalf("requests: %v", got)
	}
	head := s.calls[0].header
	if head.Get("x-api-key") != "lsv2_pt_test" || head.Get("X-Tenant-Id") != "workspace" ||
		!strings.HasPrefix(head.Get("User-Agent"), "tracesmith/") {
		t.Errorf("headers %v", head)
	}
	id := run.ID.String()
	for name, want := range map[string]string{
		"id": `"` + id + `"`, "session_name": `"default"`, "run_type": `"chain"`,
		"start_time": `"2026-11-30T04:05:06.000007Z"`, "end_time": `"2026-11-30T04:05:07.000007Z"`,
		"inputs": `{"q":"a < b && c > d"}`, "outputs": `{"done":1}`, "error": `"it \"broke\"\n"`,
		"tags":   `["a"]`,
		"events": `[{"name":"new_token","time":"2026-11-30T04:05:06.000007Z"}]`,
	} {
		if got := s.field(id, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if !strings.Contains(s.field(id, "extra"), `"thread_id":"thread"`) {
		t.Errorf("extra is %s", s.field(id, "extra"))
	}
}

func TestPostAndPatchThatWaitTogetherLeaveAsOnePost(t *testing.T) {
	s := newLangsmith(t)
	a, b := post(pending(1)), post(pending(2))
	c := newTestClient(t, config(s, nil))
	export(t, c, a, b, patch(ended(1)))
	if diff := cmp.Diff([][]string{names([]runtypes.Op{a, b})}, s.seen()); diff != "" {
		t.Error(diff)
	}
	id := a.Run.ID.String()
	if s.field(id, "inputs") != `{"n":1}` || s.field(id, "outputs") != `{"done":1}` || s.field(id, "end_time") == "" {
		t.Errorf("merged run: %v", s.runs[id])
	}
	if got := c.Stats().Delivered; got != 3 {
		t.Errorf("delivered %d ops of 3", got)
	}
}

func TestARunsOwnProjectWins(t *testing.T) {
	s := newLangsmith(t)
	cfg := config(s, nil)
	cfg.Project = "mine"
	other := pending(2)
	other.Project = "other"
	export(t, newTestClient(t, cfg), post(pending(1)), post(other))
	if got := s.field(pending(1).ID.String(), "session_name"); got != `"mine"` {
		t.Error(got)
	}
	if got := s.field(other.ID.String(), "session_name"); got != `"other"` {
		t.Error(got)
	}
}

func TestRequestsHoldNoMoreThanTheLimits(t *testing.T) {
	check := func(name string, cfg func(*Config), info string, requests int) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newLangsmith(t)
				s.info = info
				conf := config(s, nil)
				cfg(&conf)
				c := newTestClient(t, conf)
				c.Warm()
				synctest.Wait()
				export(t, c, bulky(0, 10)...)
				if got := len(s.seen()); got != requests {
					t.Errorf("%d requests, want %d", got, requests)
				}
				c.Close()
			})
		})
	}
	check("default", func(*Config) {}, "", 1)
	check("ops", func(c *Config) { c.MaxBatch = 4 }, "", 3)
	check("bytes", func(c *Config) { c.MaxBytes = 1 }, "", 10)
	check("server's ops", func(*Config) {}, `{"batch_ingest_config":{"size_limit":5}}`, 2)
	check("server's bytes", func(*Config) {}, `{"batch_ingest_config":{"size_limit_bytes":100000}}`, 10)
	check("the lower of both", func(c *Config) { c.MaxBatch = 2 }, `{"batch_ingest_config":{"size_limit":5}}`, 5)
}

func TestCompressionWaitsForTheServersWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLangsmith(t)
		s.info = infoAll
		c := newTestClient(t, config(s, nil))
		export(t, c, posts(0, 20)...)
		synctest.Wait() // for the background question
		export(t, c, posts(20, 40)...)
		c.Close()
		if got := s.calls[1].header.Get("Content-Encoding"); got != "zstd" {
			t.Errorf("second request: coding %q", got)
		}
		if s.infos != 1 {
			t.Errorf("/info asked %d times", s.infos)
		}
		if plain, sent := len(s.calls[1].plain), len(s.calls[1].body); sent*2 > plain {
			t.Errorf("%d bytes compressed to %d", plain, sent)
		}
	})
}

func TestFailureToLearnTheLimitsIsNotRememberedForLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLangsmith(t)
		c := newTestClient(t, config(s, nil))
		for range 3 { // within the pause: asked once
			export(t, c, posts(0, 1)...)
			synctest.Wait()
		}
		if s.infos != 1 {
			t.Errorf("/info asked %d times at once", s.infos)
		}
		s.info = infoAll
		time.Sleep(infoRetry)
		c.Warm()
		synctest.Wait()
		if c.server.coding() != codingZstd {
			t.Error("not asked again")
		}
		c.Close()
	})
}

func TestAnAnswerToInfoThatIsNoneIsAskedForAgain(t *testing.T) {
	for _, none := range []string{`<html>`, `[]`, `null`, `"down"`, `1`, ``} {
		s := newLangsmith(t)
		s.info = none
		if got, err := newTestClient(t, config(s, nil)).fetchInfo(); err == nil {
			t.Errorf("%q says %+v", none, got)
		}
	}
}

func TestHungInfoDelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLangsmith(t)
		hung := roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/info" {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return s.RoundTrip(r)
		})
		c := newTestClient(t, config(hung, nil))
		start := time.Now()
		export(t, c, posts(0, 1)...)
		c.Close()
		if d := time.Since(start); d != 0 {
			t.Errorf("took %v", d)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRedactionWorksOnACopy(t *testing.T) {
	s := newLangsmith(t)
	cfg := config(s, nil)
	cfg.Redact = func(r *runtypes.Run) error {
		r.Inputs[1] = ' ' // even in place
		r.Inputs = json.RawMessage(`{"q":"[gone]"}`)
		r.Metadata["deep"].(map[string]any)["secret"] = "[gone]"
		r.Tags[0] = "[gone]"
		r.Usage.InputDetails["x"] = 0
		return nil
	}
	run := pending(1)
	run.Inputs = json.RawMessage(`{"q":"secret"}`)
	run.Metadata = map[string]any{"deep": map[string]any{"secret": "secret"}}
	run.Tags = []string{"secret"}
	run.Usage = &runtypes.Usage{InputDetails: map[string]int64{"x": 1}}
	before, _ := json.Marshal(run)
	export(t, newTestClient(t, cfg), post(run))
	if after, _ := json.Marshal(run); string(before) != string(after) {
		t.Errorf("the caller's run changed:\n%s\n%s", before, after)
	}
	if body := string(s.calls[0].plain); strings.Contains(body, `"secret"`+":"+`"secret"`) || !strings.Contains(body, `{"q":"[gone]"}`) {
		t.Errorf("sent unredacted: %s", body)
	}
}

func TestARedactionSeesJSONAsJSONAndSoDoesTheServer(t *testing.T) {
	s := newLangsmith(t)
	cfg := config(s, nil)
	given := map[string]any{"raw": json.RawMessage(`{"in":["JSON",1]}`)}
	cfg.Redact = func(r *runtypes.Run) error {
		for _, m := range []map[string]any{r.Metadata, r.Model.InvocationParams, r.Events[0].Data} {
			if _, ok := m["raw"].(json.RawMessage); !ok {
				t.Errorf("the redaction gets a %T", m["raw"])
			}
		}
		return nil
	}
	run := pending(1)
	run.Kind, run.Metadata, run.Model.InvocationParams = runtypes.KindLLM, given, given
	run.Events = []runtypes.RunEvent{{Name: "e", Time: run.Start, Data: given}}
	export(t, newTestClient(t, cfg), post(run))
	if body := string(s.calls[0].plain); strings.Count(body, `"raw":{"in":["JSON",1]}`) != 4 { // the parameters are there twice
		t.Errorf("sent: %s", body)
	}
}

func TestSecretsAreRedactedUnlessAskedNotTo(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	run := pending(1)
	run.Inputs = json.RawMessage(`{"q":"` + secret + `"}`)
	run.Metadata = map[string]any{"token": secret}
	before, _ := json.Marshal(run)
	for name, redact := range map[string]func(*runtypes.Run) error{"default": nil, "off": NoRedaction} {
		s := newLangsmith(t)
		cfg := config(s, nil)
		cfg.Redact = redact
		export(t, newTestClient(t, cfg), post(run))
		if sent := strings.Contains(string(s.calls[0].plain), secret); sent != (name == "off") {
			t.Errorf("%s: secret sent: %v", name, sent)
		}
	}
	if after, _ := json.Marshal(run); string(before) != string(after) {
		t.Error("the caller's run changed")
	}
}

func TestARunWhoseRedactionFailsIsDroppedAndTheOthersArrive(t *testing.T) {
	bad := pending(3).ID
	secret := errors.New("stumbled over hunter2")
	for name, redact := range map[string]func(*runtypes.Run) error{
		"error": func(r *runtypes.Run) error {
			if r.ID == bad {
				return secret
			}
			return nil
		},
		"panic": func(r *runtypes.Run) error {
			if r.ID == bad {
				panic("stumbled over hunter2")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, d := newLangsmith(t), new(drops)
			cfg := config(s, d)
			cfg.Redact = redact
			c := newTestClient(t, cfg)
			export(t, c, posts(0, 6)...)
			if len(s.runs) != 5 || len(d.ops) != 1 || d.ops[0].Run.ID != bad || d.why[0].Reason != ReasonRedaction {
				t.Errorf("%d runs arrived, dropped %v %v", len(s.runs), names(d.ops), d.why)
			}
			if name == "error" && !errors.Is(d.why[0], secret) {
				t.Error("the redaction's error is gone")
			}
			if got := c.Stats(); got.Dropped[ReasonRedaction] != 1 || strings.Contains(got.LastError, "hunter2") {
				t.Errorf("stats %+v", got)
			}
		})
	}
}

func TestOpsThatCannotBeWrittenAreDroppedAndTheOthersArrive(t *testing.T) {
	s, d := newLangsmith(t), new(drops)
	noStart, badJSON, evil := pending(1), pending(2), pending(3)
	noStart.Start = time.Time{}
	badJSON.Inputs = json.RawMessage(`{"half`)
	evil.Metadata = map[string]any{"x": panicking{}}
	c := newTestClient(t, config(s, d))
	export(t, c, post(noStart), runtypes.Op{Verb: runtypes.Post}, post(badJSON), post(pending(4)), post(evil), runtypes.Op{Verb: "put", Run: pending(5)})
	if len(s.runs) != 1 || len(d.ops) != 5 {
		t.Errorf("%d arrived, %d dropped: %v", len(s.runs), len(d.ops), d.why)
	}
	var field *runtypes.FieldError
	if !errors.As(d.why[0], &field) || field.Field != "start_time" || d.why[0].Reason != ReasonInvalid {
		t.Errorf("first drop: %v", d.why[0])
	}
}

type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("no") }

func TestExportOfNothingDoesNothing(t *testing.T) {
	s := newLangsmith(t)
	export(t, newTestClient(t, config(s, nil)))
	if len(s.calls)+s.infos != 0 {
		t.Error("the server was asked")
	}
}

func TestOddAnswersToInfoCostNoMoreThanWhatTheySpoil(t *testing.T) {
	check := func(info string, ops, bytes int, as coding) {
		t.Helper()
		s := newLangsmith(t)
		s.info = info
		c := newTestClient(t, config(s, nil))
		c.Warm()
		c.await(t.Context(), time.Second)
		gotOps, gotBytes := c.server.limits(&c.cfg)
		if gotOps != ops || gotBytes != bytes || c.server.coding() != as || !c.server.multipart() {
			t.Errorf("%s: %d, %d, %q", info, gotOps, gotBytes, c.server.coding())
		}
	}
	check(`{"batch_ingest_config":{"size_limit":"7","size_limit_bytes":100000},"instance_flags":{"zstd_compression_enabled":true}}`, 100, 100000, codingZstd)
	check(`{"batch_ingest_config":{"size_limit":-1,"size_limit_bytes":1},"instance_flags":{"gzip_body_enabled":true}}`, 100, minBytes, codingGzip)
	check(`{"batch_ingest_config":null,"instance_flags":[]}`, 100, DefaultMaxBytes, codingNone)
	for _, none := range []string{`<html>`, `[]`, `null`, `"down"`, `1`} {
		check(none, 100, DefaultMaxBytes, codingNone)
	}
}

func TestALargeRequestWaitsForWhatTheServerTakes(t *testing.T) {
	check := func(size int, answers, took time.Duration, coding string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := newLangsmith(t)
			s.info = infoAll
			slow := roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path == "/info" {
					time.Sleep(answers)
				}
				return s.RoundTrip(r)
			})
			c := newTestClient(t, config(slow, nil))
			run := pending(1)
			run.Inputs = json.RawMessage(`{"text":"` + strings.Repeat("x", size) + `"}`)
			began := time.Now()
			export(t, c, post(run))
			if waited, as := time.Since(began), s.calls[0].header.Get("Content-Encoding"); waited != took || as != coding {
				t.Errorf("%d bytes, /info after %v: %v, %q", size, answers, waited, as)
			}
		})
	}
	check(1<<20, 100*time.Millisecond, 100*time.Millisecond, "zstd")
	check(1<<20, 5*time.Second, DefaultInterval, "")
	check(10_000, 100*time.Millisecond, 0, "")
}
