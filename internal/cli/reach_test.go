package cli

import (
	"bufio"
	"context"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/relay"
)

// smith is a LangSmith that its clients know by the name example.com, by its own
// authority, and through a proxy alone.
type smith struct {
	*httptest.Server
	proxy, authority string // the proxy's address, and a file

	mu      sync.Mutex
	keys    []string // that were shown
	tunnels int      // that the proxy was asked for
}

func newSmith(t *testing.T, start func(*httptest.Server)) *smith {
	s := &smith{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.keys = append(s.keys, r.Header.Get("X-Api-Key"))
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"app_path": "/o/t/r/1"}`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // clients hang up on purpose
	start(s.Server)
	t.Cleanup(s.Close)
	proxy := httptest.NewServer(http.HandlerFunc(s.tunnel))
	t.Cleanup(proxy.Close)
	s.proxy = proxy.URL
	if s.Certificate() != nil {
		s.authority = filepath.Join(t.TempDir(), "ca.pem")
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
		if err := os.WriteFile(s.authority, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// tunnel is the proxy: whatever it is asked for leads to the one server.
func (s *smith) tunnel(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect || r.Host != "example.com:443" {
		http.Error(w, r.Host, http.StatusBadGateway)
		return
	}
	s.mu.Lock()
	s.tunnels++
	s.mu.Unlock()
	far, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer far.Close()
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		_, _ = io.Copy(far, near)
		_ = far.Close()
	}()
	_, _ = io.Copy(near, far)
}

// seen are the different keys that were shown since it was last asked, and whether the
// proxy was used.
func (s *smith) seen() (keys []string, tunnels int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.keys)
	keys, tunnels = slices.Compact(s.keys), s.tunnels
	s.keys, s.tunnels = nil, 0
	return keys, tunnels
}

// asking are the commands that ask LangSmith something beside delivering runs. Each
// returns what it says.
var asking = map[string]func(*testing.T, *desk) string{
	"open": func(t *testing.T, d *desk) string {
		page, err := d.page(t.Context(), []string{idgen.New().String()}, "")
		if err != nil {
			return err.Error()
		}
		return page
	},
	"doctor": func(t *testing.T, d *desk) string {
		d.out.Reset()
		_ = d.execute(t.Context(), d.root(), []string{"doctor"})
		return d.out.String()
	},
	"relay": askByRelay,
}

// askByRelay starts a relay, asks through it as a client with its token does, and ends it.
func askByRelay(t *testing.T, d *desk) string {
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	reader, writer := io.Pipe()
	own := *d.app
	own.stdout = writer
	ended := make(chan error, 1)
	go func() {
		err := own.relay(ctx, relayFlags{listen: "127.0.0.1:0"})
		_ = writer.Close()
		ended <- err
	}()
	line, _ := bufio.NewReader(reader).ReadString('\n')
	if line == "" {
		return (<-ended).Error()
	}
	state, err := journal.DefaultDir(d.app.env)
	if err != nil {
		t.Fatal(err)
	}
	token, err := relay.Token(relay.Dir(state))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.Fields(line)[2]+"/sessions", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("X-Api-Key", token)
	res, err := (&http.Transport{}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return res.Status + " " + string(text)
}

// deskAt is a machine whose user's file says what text does.
func deskAt(t *testing.T, text string) *desk {
	d := newDesk(t)
	file := filepath.Join(d.env["HOME"], ".config", "tracesmith", "config.toml")
	d.env["XDG_CONFIG_HOME"] = filepath.Join(d.env["HOME"], ".config")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWhoeverAsksLangSmithShowsTheKeyThatACommandPrints(t *testing.T) {
	for name, ask := range asking {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSmith(t, (*httptest.Server).Start)
			print := "printf key-of-a-command"
			if runtime.GOOS == "windows" {
				print = "echo key-of-a-command"
			}
			said := ask(t, deskAt(t, `endpoint = "`+s.URL+`"`+"\napi_key_command = \""+print+"\"\n"))
			if keys, _ := s.seen(); !slices.Contains(keys, "key-of-a-command") || len(slices.DeleteFunc(keys, func(k string) bool { return k == "" })) != 1 {
				t.Errorf("shown: %q; said: %s", keys, said)
			}
			said = ask(t, deskAt(t, `endpoint = "`+s.URL+`"`+"\napi_key_command = \"exit 3\"\n"))
			if keys, _ := s.seen(); len(keys) != 0 || !strings.Contains(said, "api_key_command") {
				t.Errorf("a command that fails: shown %q; said: %s", keys, said)
			}
		})
	}
}

func TestWhoeverAsksLangSmithTakesTheRoadOfRuns(t *testing.T) {
	for name, ask := range asking {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSmith(t, (*httptest.Server).StartTLS)
			d := deskAt(t, "endpoint = \"https://example.com\"\napi_key = \"key\"\nproxy = \""+s.proxy+"\"\n")
			d.env["TRACESMITH_CA_FILE"] = s.authority
			said := ask(t, d)
			if keys, tunnels := s.seen(); !slices.Contains(keys, "key") || tunnels == 0 {
				t.Errorf("through the proxy: shown %q in %d tunnels; said: %s", keys, tunnels, said)
			}
			delete(d.env, "TRACESMITH_CA_FILE")
			said = ask(t, d)
			if keys, tunnels := s.seen(); len(keys) != 0 || tunnels == 0 {
				t.Errorf("of an unknown authority: shown %q in %d tunnels; said: %s", keys, tunnels, said)
			}
			d = deskAt(t, "endpoint = \"http://example.com\"\napi_key = \"key\"\nproxy = \""+s.proxy+"\"\n")
			said = ask(t, d)
			if keys, tunnels := s.seen(); len(keys) != 0 || tunnels != 0 || !strings.Contains(said, "http:// is for this machine") {
				t.Errorf("unencrypted: shown %q in %d tunnels; said: %s", keys, tunnels, said)
			}
		})
	}
}
