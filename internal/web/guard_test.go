package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/internal/web"
)

func TestOnlyWhoShowsTheTokenIsServed(t *testing.T) {
	w := newWorld(t, web.Config{})
	trace := w.turn(t, "th", 1, noon, "hello")
	port := w.base[strings.LastIndex(w.base, ":")+1:]
	for _, path := range []string{
		"/", "/?token=", "/?token=wrong", "/?token=" + token + "x", "/index.html", "/api/threads", "/api/threads?token=" + token, "/api/turns",
		"/api/threads/th", "/api/traces/" + trace, "/api/runs/" + trace + "?trace=" + trace, "/api/runs/" + trace + "/raw?trace=" + trace,
		"/api/totals", "/api/traces/" + trace + "/export.html", "/api/traces/" + trace + "/langsmith", "/api/events", "/api/nothing",
	} {
		for name, change := range map[string]func(http.Header){
			"none":         func(h http.Header) {},
			"wrong":        func(h http.Header) { h.Set("Authorization", "Bearer wrong") },
			"cookie":       func(h http.Header) { h.Set("Cookie", "tracesmith-"+port+"=wrong") },
			"other port's": func(h http.Header) { h.Set("Cookie", "tracesmith-1="+token) },
		} {
			r := w.request(t, path)
			r.Header.Del("Authorization")
			change(r.Header)
			if body, _ := w.do(t, r, http.StatusForbidden); strings.Contains(body, "hello") || strings.Contains(body, token) {
				t.Errorf("%s, %s: %s", path, name, body)
			}
		}
	}
}

func TestTheTokenLeavesTheAddressForACookie(t *testing.T) {
	w := newWorld(t, web.Config{})
	r := w.request(t, "/?token="+token)
	r.Header.Del("Authorization")
	_, header := w.do(t, r, http.StatusSeeOther)
	cookie := header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("%s: no %s", cookie, want)
		}
	}
	if header.Get("Location") != "/" {
		t.Errorf("leads to %s", header.Get("Location"))
	}
	r = w.request(t, "/")
	r.Header.Del("Authorization")
	r.Header.Set("Cookie", strings.Split(cookie, ";")[0])
	body, header := w.do(t, r, http.StatusOK)
	if !strings.Contains(strings.ToLower(body), "<!doctype html>") || header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%s: %.100s", header.Get("Content-Type"), body)
	}
}

func TestAnotherPageOrNameIsRefused(t *testing.T) {
	w := newWorld(t, web.Config{Hosts: []string{"my-box.example.com"}})
	port := w.base[strings.LastIndex(w.base, ":")+1:]
	for _, tc := range []struct {
		name, host, header, value string
		status                    int
	}{
		{"as it is", "", "", "", http.StatusOK},
		{"localhost", "localhost:" + port, "", "", http.StatusOK},
		{"IPv6", "[::1]:" + port, "", "", http.StatusOK},
		{"a name that resolves to loopback", "evil.example.com:" + port, "", "", http.StatusForbidden},
		{"a name like a number", "127.0.0.1.nip.io:" + port, "", "", http.StatusForbidden},
		{"another port", "127.0.0.1:1", "", "", http.StatusForbidden},
		{"no port", "127.0.0.1", "", "", http.StatusForbidden},
		{"a named host", "my-box.example.com", "", "", http.StatusOK},
		{"a named host's port", "my-box.example.com:8443", "Origin", "https://my-box.example.com:8443", http.StatusOK},
		{"a name below it", "x.my-box.example.com", "", "", http.StatusForbidden},
		{"its own origin", "", "Origin", "http://127.0.0.1:" + port, http.StatusOK},
		{"another's", "", "Origin", "http://evil.example.com", http.StatusForbidden},
		{"another port's", "", "Origin", "http://127.0.0.1:1", http.StatusForbidden},
		{"a sandbox's", "", "Origin", "null", http.StatusForbidden},
		{"no address", "", "Origin", "%", http.StatusForbidden},
		{"a page elsewhere", "", "Sec-Fetch-Site", "cross-site", http.StatusForbidden},
		{"a page on another port", "", "Sec-Fetch-Site", "same-site", http.StatusForbidden},
		{"the page", "", "Sec-Fetch-Site", "same-origin", http.StatusOK},
	} {
		for _, path := range []string{"/", "/api/threads"} {
			r := w.request(t, path)
			if tc.host != "" {
				r.Host = tc.host
			}
			if tc.header != "" {
				r.Header.Set(tc.header, tc.value)
			}
			answer, err := w.http.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != tc.status {
				t.Errorf("%s: %s: %d, want %d", tc.name, path, answer.StatusCode, tc.status)
			}
		}
	}
}

func TestEveryAnswerForbidsScriptsOfOthers(t *testing.T) {
	w := newWorld(t, web.Config{})
	for path, status := range map[string]int{"/": 200, "/none.js": 404, "/api/threads": 200, "/api/traces/x": 404, "/api/threads?limit=x": 400} {
		_, header := w.do(t, w.request(t, path), status)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s: %q", path, name, got)
			}
		}
		if header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s is for everybody", path)
		}
	}
}

func TestNothingCanBeWritten(t *testing.T) {
	w := newWorld(t, web.Config{})
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
		r := w.request(t, "/api/threads")
		r.Method = method
		w.do(t, r, http.StatusMethodNotAllowed)
	}
}

func TestOnlyThePagesOwnFilesAreServed(t *testing.T) {
	w := newWorld(t, web.Config{})
	for _, path := range []string{
		"/static.go", "/../static.go", "/%2e%2e/static.go", "/..%2fstatic.go", "/static/index.html", "/.", "/%00", "/..%5cstatic.go", "//etc/passwd", "/%2fetc%2fpasswd",
	} {
		r := w.request(t, "/")
		r.URL.Opaque = "//" + strings.TrimPrefix(w.base, "http://") + path // as it is, not cleaned
		answer, err := w.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			t.Errorf("%s is served", path)
		}
	}
}

func TestOnlyLoopbackIsListenedOn(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "example.com:0", "10.0.0.1:0", "", "127.0.0.1"} {
		if server, err := web.Start(web.Config{}, addr); err == nil {
			_ = server.Close(t.Context())
			t.Errorf("%q is listened on", addr)
		}
	}
}

func TestATokenIsMadeWhereNoneIsGiven(t *testing.T) {
	one, other := web.New(web.Config{}).Entry("http://x"), web.New(web.Config{}).Entry("http://x")
	if one == other || len(one) < len("http://x/?token=")+26 {
		t.Errorf("%s, %s", one, other)
	}
}
