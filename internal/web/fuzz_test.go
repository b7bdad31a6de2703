package web_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/internal/web"
	"github.com/tracesmith/tracesmith/runtypes"
)

// FuzzQuestions asks for lists with anything at all: it is answered or refused, and
// nothing of it is a fault of the store.
func FuzzQuestions(f *testing.F) {
	runs, err := store.Open(f.Context(), store.Config{Path: filepath.Join(f.TempDir(), "store", "runs.db")})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = runs.Close() })
	root, llm, tool := turn("th", 1, noon, "fix it 测试 é")
	for _, run := range []*runtypes.Run{root, llm, tool} {
		if _, err := runs.Export(f.Context(), []runtypes.Op{{Verb: runtypes.Post, Run: run}}); err != nil {
			f.Fatal(err)
		}
	}
	page := web.New(web.Config{Store: runs, Token: token})
	for _, path := range []string{"threads", "turns", "totals", "threads/th", "traces/" + root.ID.String(), "runs/" + root.ID.String()} {
		f.Add(path, "fix it", "eyJzIjoxLCJpIjoieCJ9", "2026-11-30", "3", "day")
	}
	f.Add("turns", `"a"* NOT (b) ^c:{d} NEAR/2 -`, "eyJzIjotOTIyMzM3MjAzNjg1NDc3NTgwOCwiaSI6IsKeIn0", "0001-01-01T00:00:00Z", "200", "")
	f.Add("threads", "\u1c89\U0001e900\u0300\xff\x00", "", "9999-12-31", "1", "seq")
	f.Fuzz(func(t *testing.T, path, q, cursor, at, limit, by string) {
		v := url.Values{"q": {q}, "cursor": {cursor}, "since": {at}, "until": {at}, "limit": {limit}, "by": {by}, "trace": {cursor}, "repo": {q}}
		for key, values := range v {
			if values[0] == "" {
				v.Del(key)
			}
		}
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:80/", nil)
		r.URL = &url.URL{Path: "/api/" + path, RawQuery: v.Encode()}
		if strings.HasPrefix(path, "events") {
			return // it goes on until the page goes away
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{Port: 80}))
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
		if strings.ContainsAny(w.Body.String(), "<>") && strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			t.Errorf("not escaped: %s", w.Body)
		}
	})
}
