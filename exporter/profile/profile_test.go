package profile

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stored writes a file and returns the environment that names it.
func stored(t *testing.T, content string, pairs ...string) func(string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	if content != "" {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) string {
		if name == "LANGSMITH_CONFIG_FILE" {
			return path
		}
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

const two = `{"current_profile":"b","profiles":{
	"a":{"api_key":"key-a","api_url":"https://a","workspace_id":"w-a"},
	"b":{"api_key":"key-b","api_url":"https://b","oauth":{"access_token":"token-b","expires_at":"2999-01-01T00:00:00Z"}},
	"default":{"api_key":"key-default"}}}`

func TestWhereSettingsComeFrom(t *testing.T) {
	check := func(name, content, want string, pairs ...string) {
		t.Run(name, func(t *testing.T) {
			cfg, err := Config(stored(t, content, pairs...))
			if err != nil {
				t.Fatal(err)
			}
			token := ""
			if cfg.Token != nil {
				if token, err = cfg.Token(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.Join([]string{cfg.Endpoint, cfg.APIKey, token, cfg.WorkspaceID}, " "); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	check("current profile, OAuth before its key", two, "https://b  token-b ")
	check("named profile", two, "https://a key-a  w-a", "LANGSMITH_PROFILE", "a")
	check("profile that is not there", two, "   ", "LANGSMITH_PROFILE", "c")
	check("default profile", `{"profiles":{"default":{"api_key":"k"}}}`, " k  ")
	check("a key in the environment switches OAuth off", two, "https://b mine  ", "LANGSMITH_API_KEY", "mine")
	check("each by itself", two, "https://e key-a  mine", "LANGSMITH_PROFILE", "a", "LANGSMITH_ENDPOINT", "https://e", "LANGSMITH_WORKSPACE_ID", "mine")
	check("no file", "", " mine  ", "LANGSMITH_API_KEY", "mine")
	check("broken file", `{"profiles":`, "   ")
	check("odd file", `{"profiles":{"default":{"oauth":{"access_token":"t","expires_at":7}}}}`, "  t ")
}

// issuer is an authorization server that counts.
type issuer struct {
	*httptest.Server
	mu       sync.Mutex
	granted  int
	metadata string // of the root; empty: 404
	lasts    string // what a grant says of its end, else an hour
	paths    []string
	down     bool
}

func newIssuer(t *testing.T) *issuer {
	i := new(issuer)
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.paths = append(i.paths, r.URL.Path)
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/.well-known/oauth-authorization-server" && i.metadata != "":
		fmt.Fprint(w, strings.ReplaceAll(i.metadata, "$", i.URL))
	case r.Method == http.MethodPost && !i.down && r.FormValue("grant_type") == "refresh_token" &&
		r.FormValue("client_id") == "langsmith-cli" && r.FormValue("refresh_token") == fmt.Sprintf("r%d", i.granted):
		i.granted++
		fmt.Fprintf(w, `{"access_token":"t%d","refresh_token":"r%d"%s}`, i.granted, i.granted, cmp.Or(i.lasts, `,"expires_in":3600`))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// login stores a token that ends at some time, and returns a source of it.
func (i *issuer) login(t *testing.T, ends time.Time) *source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	content := fmt.Sprintf(`{"later":[1],"profiles":{"p":{"api_url":%q,"new":true,"oauth":{"access_token":"t0","refresh_token":"r0","expires_at":%q,"scope":"x"}}}}`,
		i.URL, ends.Format(time.RFC3339))
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return i.source(path)
}

func (i *issuer) source(path string) *source {
	return newSource(path, "p", i.URL, i.Client().Transport)
}

func ask(t *testing.T, s *source, refused, want string) {
	t.Helper()
	if got, err := s.token(t.Context(), refused); err != nil || got != want {
		t.Errorf("token %q, want %q: %v", got, want, err)
	}
}

func TestATokenIsRefreshedBeforeItEnds(t *testing.T) {
	i := newIssuer(t)
	s := i.login(t, time.Now().Add(time.Hour))
	ask(t, s, "", "t0")
	s.now = func() time.Time { return time.Now().Add(59*time.Minute + 30*time.Second) }
	ask(t, s, "", "t1")
	ask(t, s, "", "t1")
	if i.granted != 1 {
		t.Errorf("refreshed %d times", i.granted)
	}
	raw, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	p := got["profiles"].(map[string]any)["p"].(map[string]any)
	o := p["oauth"].(map[string]any)
	if got["later"] == nil || p["new"] != true || o["scope"] != "x" || o["access_token"] != "t1" || o["refresh_token"] != "r1" {
		t.Errorf("%s", raw)
	}
	if info, err := os.Stat(s.path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	ask(t, i.source(s.path), "", "t1") // another process, later
}

func TestATokenOfNoEndOrOneFarAwayIsNotRefreshedAgain(t *testing.T) {
	for _, lasts := range []string{` `, `,"expires_in":0`, `,"expires_in":1000000000000`} {
		i := newIssuer(t)
		i.lasts = lasts
		s := i.login(t, time.Now())
		ask(t, s, "", "t1")
		ask(t, s, "", "t1")
		ask(t, i.source(s.path), "", "t1") // another process
	}
}

func TestARefusedTokenIsRefreshed(t *testing.T) {
	i := newIssuer(t)
	s := i.login(t, time.Now().Add(time.Hour))
	ask(t, s, "t0", "t1")
	ask(t, s, "", "t1")
}

func TestManyProcessesRefreshOnce(t *testing.T) {
	i := newIssuer(t)
	path := i.login(t, time.Now()).path
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { ask(t, i.source(path), "", "t1") })
	}
	wg.Wait()
	if i.granted != 1 {
		t.Errorf("refreshed %d times", i.granted)
	}
}

func TestAFailedRefreshKeepsTheOldTokenAndIsNotRepeatedAtOnce(t *testing.T) {
	i := newIssuer(t)
	i.down = true
	s := i.login(t, time.Now())
	for range 5 {
		ask(t, s, "", "t0")
	}
	posts := 0
	for _, path := range i.paths {
		if path == "/oauth/token" {
			posts++
		}
	}
	if posts != 1 {
		t.Errorf("asked %d times", posts)
	}
	i.down = false
	s.now = func() time.Time { return time.Now().Add(retryAfter) }
	ask(t, s, "", "t1")
}

func TestTheTokenEndpointIsTakenFromTheServerItself(t *testing.T) {
	check := func(name, metadata, want string) {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(t)
			i.metadata = metadata
			s := i.source("unused")
			if got := s.tokenEndpoint(context.Background()); got != i.URL+want {
				t.Errorf("%s", got)
			}
			s.endpoint += "/api/v1"
			if got := s.tokenEndpoint(context.Background()); metadata != "" && got != i.URL+want && got != i.URL+"/api/v1/oauth/token" {
				t.Errorf("%s", got)
			}
		})
	}
	check("none", "", "/oauth/token")
	check("its own", `{"issuer":"$","token_endpoint":"$/grant"}`, "/grant")
	check("another issuer", `{"issuer":"https://evil","token_endpoint":"$/grant"}`, "/oauth/token")
	check("another server", `{"issuer":"$","token_endpoint":"https://evil/grant"}`, "/oauth/token")
	check("no JSON", `<html>`, "/oauth/token")
}
