package langsmith

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return &Client{Endpoint: s.URL, APIKey: "key", WorkspaceID: "w", HTTP: s.Client()}
}

func TestARunIsLookedUp(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("x-api-key") != "key" || r.Header.Get("X-Tenant-Id") != "w" {
			t.Errorf("headers %v", r.Header)
		}
		if r.URL.Path != "/runs/r1" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"detail": "Run not found"}`)
			return
		}
		fmt.Fprint(w, `{"id": "r1", "session_id": "p", "app_path": "/o/t/projects/p/p/r/r1?poll=true"}`)
	})
	run, err := c.Run(t.Context(), "r1")
	if err != nil || run.Page("https://eu.api.smith.langchain.com") != "https://eu.smith.langchain.com/o/t/projects/p/p/r/r1?poll=true" {
		t.Errorf("%+v, %v", run, err)
	}
	var refused *StatusError
	if _, err := c.Run(t.Context(), "r2"); !errors.As(err, &refused) || refused.Status != 404 || refused.Message != "Run not found" {
		t.Errorf("%v", err)
	}
}

func TestAnAnswerThatIsNotLangSmithsIsNoAnswer(t *testing.T) {
	for _, page := range []string{"<html>hello</html>", "{}", "[]", ""} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page) })
		if _, err := c.Run(t.Context(), "r1"); !errors.Is(err, ErrForeign) {
			t.Errorf("%q: %v", page, err)
		}
	}
}

func TestTheKeyDoesNotFollowARedirect(t *testing.T) {
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.Endpoint, http.StatusFound)
	})
	var refused *StatusError
	if err := c.Check(t.Context()); !errors.As(err, &refused) || refused.Status != http.StatusFound {
		t.Errorf("%v", err)
	}
}

func TestATokenStandsInForAKey(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token" || r.Header.Get("x-api-key") != "" {
			t.Errorf("headers %v", r.Header)
		}
		fmt.Fprint(w, "[]")
	})
	c.APIKey, c.Token = "", func(context.Context, string) (string, error) { return "token", nil }
	if err := c.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestATokenThatIsRefusedIsReplacedOnce(t *testing.T) {
	asked := 0
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; r.Header.Get("Authorization") != "Bearer fresh" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, "[]")
	})
	next := "fresh"
	c.APIKey, c.Token = "", func(_ context.Context, refused string) (string, error) {
		if refused != "" {
			return next, nil
		}
		return "old", nil
	}
	if err := c.Check(t.Context()); err != nil || asked != 2 {
		t.Errorf("%d questions: %v", asked, err)
	}
	next = "old" // there is no other
	var refused *StatusError
	if err := c.Check(t.Context()); !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized || asked != 3 {
		t.Errorf("%d questions: %v", asked, err)
	}
}

func TestWherePagesAre(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://api.smith.langchain.com":      "https://smith.langchain.com",
		"https://apac.api.smith.langchain.com": "https://apac.smith.langchain.com",
		"https://smith.example/api/v1":         "https://smith.example",
		"https://smith.example/langsmith/api":  "https://smith.example/langsmith",
		"http://localhost:1984":                "http://localhost:1984",
		"://":                                  "",
	} {
		if got := Host(endpoint); got != want {
			t.Errorf("%s: %s, want %s", endpoint, got, want)
		}
	}
	run := Run{ID: "r", Tenant: "t", Project: "p"}
	if got := run.Page("https://smith.example/api/v1"); got != "https://smith.example/o/t/projects/p/p/r/r" {
		t.Error(got)
	}
	run.AppPath = "//evil.example/x"
	if got := run.Page("https://smith.example"); !strings.HasPrefix(got, "https://smith.example/o/") {
		t.Error(got)
	}
	if others := Elsewhere("https://api.smith.langchain.com"); len(others) != 3 || others["US"] != "" {
		t.Errorf("%v", others)
	}
	if Elsewhere("https://smith.example") != nil {
		t.Error("a key of somebody else's deployment would be shown to LangSmith")
	}
}
