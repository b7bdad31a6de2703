package profile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

const (
	early       = time.Minute      // before its end a token is refreshed
	refreshTime = 10 * time.Second // for all of a refresh
	lockPoll    = 50 * time.Millisecond
	retryAfter  = time.Minute     // a refresh that failed is not tried again sooner
	longest     = 365 * 24 * 3600 // seconds that a token is taken to last
	answerLimit = 64 << 10
	clientID    = "langsmith-cli"
)

// source hands out the access token of a profile.
type source struct {
	path, name string
	endpoint   string
	http       *http.Client
	now        func() time.Time

	mu     sync.Mutex
	last   oauth
	failed time.Time // when the newest refresh failed
}

func newSource(path, name, endpoint string, transport http.RoundTripper) *source {
	return &source{
		path: path, name: name, endpoint: strings.TrimRight(endpoint, "/"), now: time.Now,
		http: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// token is an exporter.Config's Token. It never fails: an old token is better than
// none.
func (s *source) token(ctx context.Context, refused string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.good(s.last, refused) {
		return s.last.AccessToken, nil
	}
	if now, err := s.read(); err == nil {
		s.last = now
	}
	if s.good(s.last, refused) || s.last.RefreshToken == "" || s.now().Sub(s.failed) < retryAfter {
		return s.last.AccessToken, nil
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	fresh, err := s.refresh(ctx, refused)
	if err != nil {
		s.failed = s.now()
		return s.last.AccessToken, nil
	}
	s.last = fresh
	return fresh.AccessToken, nil
}

// good reports whether a token is there, was not refused and lasts.
func (s *source) good(o oauth, refused string) bool {
	return o.AccessToken != "" && o.AccessToken != refused &&
		(o.ExpiresAt.IsZero() || s.now().Add(early).Before(o.ExpiresAt.Time))
}

func (s *source) read() (oauth, error) {
	f, err := readFile(s.path)
	if err != nil {
		return oauth{}, err
	}
	p := f.Profiles[s.name]
	if p == nil {
		return oauth{}, errors.New("profile: it is gone")
	}
	return p.OAuth, nil
}

// refresh gets a new token, unless another process has done so meanwhile.
func (s *source) refresh(ctx context.Context, refused string) (oauth, error) {
	lock := flock.New(s.path+".oauth.lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLockContext(ctx, lockPoll); err != nil || !ok {
		return oauth{}, fmt.Errorf("profile: lock: %w", cmp.Or(err, context.DeadlineExceeded))
	}
	defer lock.Close()
	now, err := s.read()
	if err != nil || s.good(now, refused) {
		return now, err
	}
	fresh, err := s.exchange(ctx, s.tokenEndpoint(ctx), now)
	if err != nil {
		return oauth{}, err
	}
	// The token is good even where it cannot be written back.
	_ = writeOAuth(s.path, s.name, fresh)
	return fresh, nil
}

// exchange trades a refresh token for an access token.
func (s *source) exchange(ctx context.Context, endpoint string, old oauth) (oauth, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {clientID}, "refresh_token": {old.RefreshToken}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return oauth{}, fmt.Errorf("profile: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var got struct {
		AccessToken  string `json:"access_token"`
		RefreshToken string `json:"refresh_token"`
		ExpiresIn    int64  `json:"expires_in"`
	}
	if err := s.do(req, &got); err != nil {
		return oauth{}, err
	}
	if got.AccessToken == "" {
		return oauth{}, errors.New("profile: no token in the answer")
	}
	fresh := oauth{AccessToken: got.AccessToken, RefreshToken: cmp.Or(got.RefreshToken, old.RefreshToken)}
	if got.ExpiresIn > 0 {
		fresh.ExpiresAt.Time = s.now().Add(time.Duration(min(got.ExpiresIn, longest)) * time.Second)
	}
	return fresh, nil
}

// tokenEndpoint asks for the authorization server's metadata (RFC 8414) at the
// API's mount, /api and the root. What it says counts only if it speaks for the
// URL that was asked and stays on that server: the refresh token goes there.
func (s *source) tokenEndpoint(ctx context.Context) string {
	base, err := url.Parse(s.endpoint)
	if err != nil {
		return s.endpoint + "/oauth/token"
	}
	origin := base.Scheme + "://" + base.Host
	for _, issuer := range []string{s.endpoint, origin + "/api", origin} {
		mount := strings.TrimPrefix(issuer, origin)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+"/.well-known/oauth-authorization-server"+mount, http.NoBody)
		if err != nil {
			break
		}
		var got struct {
			Issuer   string `json:"issuer"`
			Endpoint string `json:"token_endpoint"`
		}
		if s.do(req, &got) == nil && strings.TrimRight(got.Issuer, "/") == issuer && sameOrigin(got.Endpoint, base) {
			return got.Endpoint
		}
	}
	return s.endpoint + "/oauth/token"
}

func sameOrigin(endpoint string, base *url.URL) bool {
	u, err := url.Parse(endpoint)
	return err == nil && u.Scheme == base.Scheme && u.Host == base.Host && u.User == nil
}

// do sends a request and reads a JSON answer.
func (s *source) do(req *http.Request, into any) error {
	req.Header.Set("Accept", "application/json")
	resp, err := s.http.Do(req)
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	switch {
	case err != nil:
		return fmt.Errorf("profile: %w", err)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("profile: status %d", resp.StatusCode)
	case json.Unmarshal(raw, into) != nil: // its error may quote a token
		return errors.New("profile: the answer is no JSON")
	}
	return nil
}
