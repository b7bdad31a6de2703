package exporter

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestTheZeroConfigIsUsable(t *testing.T) {
	b, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	got := b.pipes[0].client.cfg
	if got.Endpoint != DefaultEndpoint || got.Project != "default" || got.MaxElapsed != DefaultMaxElapsed {
		t.Errorf("%+v", got)
	}
}

func TestSettingsAreTrimmed(t *testing.T) {
	cfg, err := Config{Endpoint: ` "https://host/api/v1//" `, APIKey: " 'key'\n", WorkspaceID: `"`}.withDefaults()
	if err != nil || cfg.Endpoint != "https://host/api/v1" || cfg.APIKey != "key" || cfg.WorkspaceID != `"` {
		t.Errorf("%+v, %v", cfg, err)
	}
}

func TestAnUnusableConfigIsRefused(t *testing.T) {
	check := func(cfg Config, want string) {
		t.Helper()
		_, err := NewClient(cfg)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%+v: %v", cfg, err)
		}
		if _, err := New(cfg); err == nil {
			t.Error("New takes it")
		}
	}
	check(Config{Endpoint: "host"}, "scheme")
	check(Config{Endpoint: "ftp://host"}, "scheme")
	check(Config{Endpoint: "https://"}, "no host")
	check(Config{Endpoint: "https://user:hunter2@host"}, "credentials")
	check(Config{Endpoint: "https://host?key=hunter2"}, "query")
	check(Config{Endpoint: "https://ho\x00st/hunter2"}, "not a URL")
	check(Config{MaxElapsed: -time.Second}, "negative")
}

// net/http would refuse every request, and each would be tried for minutes.
func TestWhatNoHeaderCanHoldIsRefusedAtOnce(t *testing.T) {
	check := func(cfg Config, want string) {
		t.Helper()
		_, err := NewClient(cfg)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want one about %s", err, want)
		}
	}
	check(Config{APIKey: "hunter2\nhunter2"}, "APIKey")
	check(Config{WorkspaceID: "hunter2\x00"}, "WorkspaceID")
	check(Config{Header: http.Header{"X-Team": {"hunter2\r\nX-Api-Key: hunter2"}}}, "X-Team")
	check(Config{Header: http.Header{"X Team": {"a"}}}, `"X Team"`)
	check(Config{Credentials: http.Header{"Cookie": {"hunter2\x7f"}}}, "Cookie")
	check(Config{Project: "a", Address: "lrn:agents/a/environments/local"}, "not to both")
	check(Config{Level: 23}, "Level")
}
