package ingest_test

import (
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/internal/ingest"
)

// with replaces a piece of a run's JSON, which must be there.
func with(t *testing.T, run, old, new string) string {
	t.Helper()
	if !strings.Contains(run, old) {
		t.Fatalf("%q is not in %s", old, run)
	}
	return strings.Replace(run, old, new, 1)
}

func plus(run, field string) string { return run[:len(run)-1] + "," + field + "}" }

// refused checks that a request is refused with status and a message, and that
// nothing of it is stored, the good run beside the bad one included.
func refused(t *testing.T, status int, message string, r request) {
	t.Helper()
	s := start(t, ingest.Config{})
	a := want(t, s, status, r)
	if !strings.Contains(a.body, message) {
		t.Errorf("answered %s, want %q", a.body, message)
	}
	if n := len(s.Memory().Runs()); n != 0 {
		t.Errorf("%d runs of a refused request are stored", n)
	}
}

func TestARunOfTheWrongShapeHasTheWholeRequestRefused(t *testing.T) {
	early := "20261130T115959000000Z"
	for _, tc := range []struct {
		name    string
		status  int
		message string
		run     string // a child, posted beside a good root
	}{
		{"order ends in another id", 400, "must end in the run id", with(t, childRun, "000002Z"+childID, "000002Z019ad3a0-0000-7000-8000-000000000003")},
		{"order starts with another trace", 400, "must start with trace_id", with(t, childRun, `"trace_id":"`+rootID, `"trace_id":"`+childID)},
		{"order disagrees with parent", 400, "disagrees with parent_run_id", with(t, childRun, `"parent_run_id":"`+rootID, `"parent_run_id":"019ad3a0-0000-7000-8000-000000000003`)},
		{"child without a parent", 400, "single part for root runs", with(t, childRun, `"parent_run_id":"`+rootID+`",`, "")},
		{"parent but one part", 400, "at least two parts", with(t, with(t, childRun, rootOrder+".", ""), `"trace_id":"`+rootID, `"trace_id":"`+childID)},
		{"earlier than its parent", 400, "earlier than the parent", with(t, childRun, "20261130T120001000002Z", early)},
		{"three digits", 400, "invalid dotted_order", with(t, childRun, "120001000002Z", "120001000Z")},
		{"no such day", 400, "invalid timestamp", with(t, childRun, "20261130T120001", "20261132T120001")},

		{"no dotted_order", 422, "dotted_order", with(t, childRun, `"dotted_order":"`+childOrder+`",`, "")},
		{"no trace_id", 422, "trace_id", with(t, childRun, `"trace_id":"`+rootID+`",`, "")},
		{"id is none", 422, "id", with(t, childRun, `"id":"`+childID, `"id":"x`)},
		{"parent is none", 422, "parent_run_id", with(t, childRun, `"parent_run_id":"`+rootID, `"parent_run_id":"x`)},
		{"unknown run_type", 422, "run_type", with(t, childRun, `"tool"`, `"agent"`)},
		{"no run_type", 422, "run_type", with(t, childRun, `"run_type":"tool",`, "")},
		{"name is a number", 422, "name", with(t, childRun, `"name":"Bash"`, `"name":7`)},
		{"no start_time", 422, "start_time", with(t, childRun, `,"start_time":"2026-11-30T12:00:01.000002Z"`, "")},
		{"start_time without a zone", 422, "start_time", with(t, childRun, "01.000002Z\"", "01.000002\"")},
		{"end_time without a zone", 422, "end_time", plus(childRun, `"end_time":"2026-11-30T12:00:02"`)},
		{"null", 422, "session_id", plus(childRun, `"session_id":null`)},
		{"inputs is a list", 422, "inputs", plus(childRun, `"inputs":[1]`)},
		{"outputs is a text", 422, "outputs", plus(childRun, `"outputs":"x"`)},
		{"extra is a list", 422, "extra", plus(childRun, `"extra":[]`)},
		{"error is an object", 422, "error", plus(childRun, `"error":{}`)},
		{"events is an object", 422, "events", plus(childRun, `"events":{}`)},
		{"events holds a text", 422, "events", plus(childRun, `"events":["x"]`)},
		{"tags holds a number", 422, "tags", plus(childRun, `"tags":[1]`)},
		{"not a number", 422, "JSON", plus(childRun, `"inputs":{"a":NaN}`)},
		{"bad UTF-8", 422, "UTF-8", plus(childRun, "\"inputs\":{\"a\":\"\xff\"}")},
		{"big integer", 422, "too big", plus(childRun, `"inputs":{"a":"1","b":9223372036854775808}`)},
		{"list", 422, "object", "[]"},
		{"null run", 422, "object", "null"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name != "id is none" { // a part's name gives it away first
				refused(t, tc.status, tc.message, request{body: form(post(rootID, rootRun), post(childID, tc.run))})
			}
			refused(t, tc.status, "", request{path: "/runs/batch", body: `{"post":[` + rootRun + `,` + tc.run + `]}`})
		})
	}
}

// As recorded of langsmith-py 0.15.1, at the end of a root run.
func TestThePythonClientsPatchOfARootPasses(t *testing.T) {
	s := start(t, ingest.Config{})
	end := plus(rootEnd, `"parent_run_id":null,"session_id":null`)
	want(t, s, 202, request{body: form(post(rootID, rootRun))})
	want(t, s, 202, request{body: form(part{name: "patch." + rootID, body: end})})
	for _, other := range []string{plus(rootEnd, `"name":null`), plus(rootEnd, `"end_time":null`)} {
		refused(t, 422, "null", request{body: form(part{name: "patch." + rootID, body: other})})
	}
	refused(t, 422, "null", request{path: "/runs/batch", body: `{"patch":[` + end + `]}`})
}

func TestLargestIntegersPass(t *testing.T) {
	s := start(t, ingest.Config{})
	want(t, s, 202, request{body: form(post(rootID, plus(rootRun,
		`"inputs":{"a":[9223372036854775807,-9223372036854775808,1e400,0.12345678901234567890],"99999999999999999999":"99999999999999999999\""}`)))})
}

func TestBadFramingIsRefused(t *testing.T) {
	id := "post." + rootID
	typed := "Content-Type: application/json\r\n"
	good := post(rootID, rootRun)
	whole := form(good, post(childID, childRun))
	for _, tc := range []struct {
		name, message, body string
	}{
		{"no length", "Content-Length is required", form(part{id, rootRun, typed})},
		{"no type", "Content-Type is required", form(part{id, rootRun, "Content-Length: 7\r\n"})},
		{"wrong length", "says 5 bytes", form(part{id, rootRun, typed + "Content-Length: 5\r\n"})},
		{"length is no number", "bytes and has", form(part{id, rootRun, typed + "Content-Length: x\r\n"})},
		{"encoded part", "Content-Encoding", form(part{id, rootRun, typed + "Content-Length: 5\r\nContent-Encoding: gzip\r\n"})},
		{"unknown verb", "unknown name", form(part{name: "put." + rootID, body: rootRun})},
		{"unknown field", "unknown name", form(good, part{name: id + ".input", body: "{}"})},
		{"no run id", "name must be", form(part{name: "post.x", body: rootRun})},
		{"attachment with a dot", "unknown name", form(good, part{name: "attachment." + rootID + ".a.b", body: "{}"})},
		{"name and id differ", "does not match", form(post(childID, rootRun))},
		{"fields alone", "is missing", form(part{name: id + ".inputs", body: "{}"})},
		{"twice", "comes twice", form(good, good)},
		{"field twice", "comes twice", form(good, part{name: id + ".inputs", body: "{}"}, part{name: id + ".inputs", body: "{}"})},
		{"field both ways", "both ways", form(post(rootID, plus(rootRun, `"inputs":{}`)), part{name: id + ".inputs", body: "{}"})},
		{"field is null", "null", form(good, part{name: id + ".inputs", body: "null"})},
		{"field is no JSON", "not valid JSON", form(good, part{name: id + ".inputs", body: "{"})},
		{"feedback is no JSON", "not valid JSON", form(good, part{name: "feedback." + rootID, body: "{"})},
		{"cut in a part", "error reading multipart data", whole[:len(whole)-40]},
		{"no closing boundary", "error reading multipart data", strings.TrimSuffix(whole, "--"+boundary+"--\r\n")},
		{"empty", "NextPart: EOF", ""},
	} {
		t.Run(tc.name, func(t *testing.T) { refused(t, 422, tc.message, request{body: tc.body}) })
	}
	for _, contentType := range []string{"application/json", "multipart/form-data", "multipart/mixed; boundary=" + boundary, ";"} {
		refused(t, 422, "multipart/form-data", request{body: whole, header: map[string]string{"Content-Type": contentType}})
	}
	for _, encoding := range []string{"zstd", "gzip"} {
		refused(t, 422, encoding, request{body: whole, header: map[string]string{"Content-Encoding": encoding}})
	}
}

func TestBadSingleRequestsAreRefused(t *testing.T) {
	for _, tc := range []request{
		{path: "/runs", body: `[]`},
		{path: "/runs", body: `{`},
		{path: "/runs", body: `{"id":"x"}`},
		{path: "/runs/batch", body: `[]`},
		{path: "/runs/batch", body: `{"post":[` + rootRun + `,` + rootRun + `]}`},
		{method: "PATCH", path: "/runs/x", body: rootEnd},
		{method: "PATCH", path: "/runs/" + childID, body: rootEnd},
		{method: "PATCH", path: "/runs/" + rootID, body: `{"end_time":"2026-11-30T12:00:09Z"}`},
	} {
		refused(t, 422, "", tc)
	}
}
