package exporter

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func timeout(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

// tokens hands out a token, and the next where one was refused.
func tokens(asked *[]string, list ...string) func(context.Context, string) (string, error) {
	return func(_ context.Context, refused string) (string, error) {
		*asked = append(*asked, refused)
		if len(list) > 1 && refused == list[0] {
			list = list[1:]
		}
		return list[0], nil
	}
}

func withToken(s *langsmith, token func(context.Context, string) (string, error)) Config {
	cfg := config(s, nil)
	cfg.APIKey, cfg.Token, cfg.MaxElapsed = "", token, time.Second
	return cfg
}

func TestARefusedTokenIsReplacedOnce(t *testing.T) {
	s, asked := newLangsmith(t), []string{}
	s.answer = func(_ int, c call) *reply {
		if c.header.Get("Authorization") != "Bearer fresh" {
			return status(http.StatusUnauthorized)
		}
		return nil
	}
	export(t, newTestClient(t, withToken(s, tokens(&asked, "stale", "fresh"))), posts(0, 1)...)
	if len(s.calls) != 2 || len(s.runs) != 1 || len(asked) != 2 || asked[1] != "stale" {
		t.Errorf("%d requests, asked for %q", len(s.calls), asked)
	}
	if got := s.calls[0].header.Values("X-Api-Key"); len(got) > 0 {
		t.Errorf("key %q", got)
	}
}

func TestATokenWithoutASuccessorIsRefusedForGood(t *testing.T) {
	s, asked := newLangsmith(t), []string{}
	s.answer = always(status(http.StatusUnauthorized))
	rest, err := newTestClient(t, withToken(s, tokens(&asked, "only"))).Export(t.Context(), posts(0, 1))
	if !errors.Is(err, ErrUnauthorized) || len(rest) != 1 || len(s.calls) != 1 {
		t.Errorf("%d requests: %v", len(s.calls), err)
	}
}

func TestATokenThatCannotBeHadIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, n := newLangsmith(t), 0
		cfg := withToken(s, func(context.Context, string) (string, error) {
			if n++; n < 3 {
				return "", errors.New("no network")
			}
			return "token", nil
		})
		cfg.MaxElapsed = time.Minute
		c := newTestClient(t, cfg)
		export(t, c, posts(0, 1)...)
		c.Close()
		if len(s.runs) != 1 {
			t.Errorf("%d runs", len(s.runs))
		}
	})
}

func TestAKeyComesBeforeAToken(t *testing.T) {
	s, asked := newLangsmith(t), []string{}
	cfg := withToken(s, tokens(&asked, "token"))
	cfg.APIKey = "key"
	export(t, newTestClient(t, cfg), posts(0, 1)...)
	if got := s.calls[0].header; len(asked) > 0 || got.Get("Authorization") != "" || got.Get("X-Api-Key") != "key" {
		t.Errorf("asked %q, %v", asked, got)
	}
}

func TestHeadersMayAddAndNotReplace(t *testing.T) {
	s := newLangsmith(t)
	cfg := config(s, nil)
	cfg.Header = http.Header{"x-team": {"a"}, "X-Api-Key": {"theirs"}, "Authorization": {"theirs"}, "User-Agent": {"theirs"}, "Content-Type": {"theirs"}}
	export(t, newTestClient(t, cfg), posts(0, 1)...)
	got := s.calls[0].header
	if got.Get("X-Team") != "a" || got.Get("X-Api-Key") != "lsv2_pt_test" || got.Get("Authorization") != "" || got.Get("User-Agent") == "theirs" {
		t.Errorf("%v", got)
	}
}

func TestATokenNamesItsUserBesideItself(t *testing.T) {
	check := func(claims, want string) {
		t.Helper()
		s := newLangsmith(t)
		token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
		export(t, newTestClient(t, withToken(s, func(context.Context, string) (string, error) { return token, nil })), posts(0, 1)...)
		if got := s.calls[0].header; got.Get("X-User-Id") != want || got.Get("Authorization") != "Bearer "+token {
			t.Errorf("%s: %v", claims, got)
		}
	}
	check(`{"sub":"4f6a"}`, "4f6a")
	check(`{"sub":"a\nb"}`, "")
	check(`{"sub":7}`, "")
	check(`{}`, "")
	check(`no JSON`, "")
}

func TestCredentialsTakeTheKeysPlace(t *testing.T) {
	s := newLangsmith(t)
	cfg := config(s, nil)
	cfg.Credentials = http.Header{"x-service-key": {"service"}, "Cookie": {"a=b"}}
	cfg.Header = http.Header{"X-Service-Key": {"theirs"}}
	export(t, newTestClient(t, cfg), posts(0, 1)...)
	got := s.calls[0].header
	if got.Get("X-Service-Key") != "service" || got.Get("Cookie") != "a=b" || got.Get("X-Api-Key") != "" {
		t.Errorf("%v", got)
	}
}
