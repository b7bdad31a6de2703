package exporter

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestRunsArriveOverARealConnection(t *testing.T) {
	s := newLangsmith(t)
	server := httptest.NewServer(s)
	defer server.Close()
	c := newTestClient(t, Config{Endpoint: server.URL + "/"})
	s.answer = first(1, &reply{store: true, broken: true}) // an acknowledgement is lost
	s.conflict = true
	export(t, c, posts(0, 20)...)
	if len(s.runs) != 20 {
		t.Errorf("%d of 20 arrived", len(s.runs))
	}
	c.Close()
}

// A captive portal answers everything with its own page and a 200.
func TestASuccessThatIsNotLangSmithsIsNotDelivered(t *testing.T) {
	check := func(delivered bool, contentType, body string) {
		t.Helper()
		scripted(t, func(int, call) *reply {
			return &reply{status: http.StatusOK, header: http.Header{"Content-Type": {contentType}}, body: body}
		}, func(t *testing.T, _ *langsmith, c *Client) {
			rest, err := c.Export(t.Context(), posts(0, 2))
			var later *TemporaryError
			if delivered != (err == nil && len(rest) == 0) || !delivered && (len(rest) != 2 || !errors.As(err, &later)) {
				t.Errorf("%s %q: %d left, %v", contentType, body, len(rest), err)
			}
		})
	}
	const page = "<!doctype html><title>Welcome to the hotel</title>"
	for _, contentType := range []string{"text/html", "text/html; charset=utf-8", "application/json", "text/plain", "/;", ""} {
		check(false, contentType, page)
		check(false, contentType, "\r\n "+page)
	}
	check(false, "text/plain", "OK")
	check(false, "application/json", "null")
	check(false, "text/html", "")
	check(true, "", "")
	check(true, "application/json", " \n")
	check(true, "application/json", `{"message":"Runs batch ingested"}`)
	check(true, "", "\n {}")
}

func TestTheEndpointsPathIsKept(t *testing.T) {
	var path atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/info" {
			path.Store(r.URL.Path)
		}
	}))
	defer server.Close()
	c := newTestClient(t, Config{Endpoint: server.URL + "/api/v1/"})
	export(t, c, posts(0, 1)...)
	if path.Load() != "/api/v1/runs/multipart" {
		t.Errorf("path %v", path.Load())
	}
	c.Close()
}

func TestARedirectNeverCarriesTheKeyAway(t *testing.T) {
	var visits atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	defer elsewhere.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, code)
		}))
		c := newTestClient(t, Config{Endpoint: server.URL, APIKey: "key"})
		rest, err := c.Export(t.Context(), posts(0, 1))
		var refused *StatusError
		if !errors.As(err, &refused) || refused.Status != code || len(rest) != 1 {
			t.Errorf("%d: rest %d: %v", code, len(rest), err)
		}
		c.Close()
		server.Close()
	}
	if visits.Load() != 0 {
		t.Errorf("the other host was asked %d times", visits.Load())
	}
}

func TestARedirectOnTheSameServerIsFollowedOnlyIfThePostStaysOne(t *testing.T) {
	for code, delivered := range map[int]bool{302: false, 307: true, 308: true} {
		s := newLangsmith(t)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if path, ok := strings.CutPrefix(r.URL.Path, "/old"); ok {
				http.Redirect(w, r, path, code)
				return
			}
			s.ServeHTTP(w, r)
		}))
		c := newTestClient(t, Config{Endpoint: server.URL + "/old"})
		_, err := c.Export(t.Context(), posts(0, 1))
		if (err == nil) != delivered || (len(s.runs) == 1) != delivered {
			t.Errorf("%d: %d runs, %v", code, len(s.runs), err)
		}
		c.Close()
		server.Close()
	}
}

func TestTheCallersHTTPClientIsNotChanged(t *testing.T) {
	s := newLangsmith(t)
	hc := &http.Client{Transport: s}
	cfg := config(s, nil)
	cfg.HTTPClient = hc
	c := newTestClient(t, cfg)
	export(t, c, posts(0, 1)...)
	c.Close()
	if hc.CheckRedirect != nil || hc.Transport != http.RoundTripper(s) {
		t.Errorf("%+v", hc)
	}
}

func TestAnAnswersTextNeverReachesTheErrorAndIsCutShort(t *testing.T) {
	s := newLangsmith(t)
	s.answer = always(&reply{status: 401, body: `{"error":"` + strings.Repeat("hunter2 é", 1000) + `"}`})
	_, err := newTestClient(t, config(s, nil)).Export(t.Context(), posts(0, 1))
	var refused *StatusError
	if !errors.As(err, &refused) || len(refused.Message) > messageLimit || !strings.HasPrefix(refused.Message, "hunter2") {
		t.Fatalf("%+v", refused)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}
