package exporter

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-resty/resty/v2"

	"github.com/tracesmith/tracesmith/runtypes"
)

const (
	answerLimit  = 64 << 10    // bytes of an answer that are read
	messageLimit = 256         // bytes of a refusal's explanation that are kept
	attemptTime  = time.Minute // for an empty request, from dial to answer
	slowUplink   = 64 << 10    // bytes a second that a slow connection is allowed
)

// errWebPage is a success that did not come from LangSmith but from what stands
// in front of it: a proxy's login page, a hotel's portal. See foreign.
var errWebPage = errors.New("exporter: the answer is a web page")

// transport makes single HTTP requests: no retry, no decisions.
type transport struct {
	resty *resty.Client
	token func(ctx context.Context, refused string) (string, error) // nil: none is sent
	idle  func()                                                    // closes the connections that are ours

	binary bool // answers are no JSON
}

// answer is what came back.
type answer struct {
	status     int
	body       []byte // at most answerLimit
	retryAfter string
	date       string
	page       bool // not LangSmith's: HTML, or no JSON
}

func newTransport(cfg *Config) *transport {
	hc, idle := connect(cfg)
	t := &transport{idle: idle}
	t.resty = resty.NewWithClient(hc).
		SetBaseURL(cfg.Endpoint).
		SetLogger(quiet{}).
		SetDisableWarn(true).
		SetDoNotParseResponse(true).
		SetHeader("User-Agent", "tracesmith/"+runtypes.Version())
	if t.binary = cfg.Dialect != nil; !t.binary {
		t.resty.SetHeader("Accept", "application/json")
	}
	for name, values := range cfg.Header {
		if t.resty.Header.Get(name) == "" && !reserved(name) {
			t.resty.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	switch {
	case len(cfg.Credentials) > 0:
		for name, values := range cfg.Credentials {
			t.resty.Header[http.CanonicalHeaderKey(name)] = values
		}
	case cfg.APIKey != "":
		t.resty.SetHeader("x-api-key", cfg.APIKey)
	default:
		t.token = cfg.Token
	}
	if cfg.WorkspaceID != "" {
		t.resty.SetHeader("X-Tenant-Id", cfg.WorkspaceID)
	}
	return t
}

// reserved headers are not the caller's to set.
func reserved(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "X-Api-Key", "X-Service-Key", "X-Tenant-Id", "X-User-Id", "Authorization", "Content-Type", "Content-Encoding", "Content-Length", "Host":
		return true
	}
	return false
}

// do sends a request once and reads the answer. A token that is refused is
// replaced by a fresh one, if there is one, and the request sent again.
func (t *transport) do(ctx context.Context, method string, req *request) (*answer, error) {
	if t.token == nil || req.body == nil { // /info needs none
		return t.send(ctx, method, req, "")
	}
	token, err := t.token(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("exporter: token: %w", err)
	}
	got, err := t.send(ctx, method, req, token)
	if err != nil || got.status != http.StatusUnauthorized {
		return got, err
	}
	fresh, err := t.token(ctx, token)
	if err != nil || fresh == token {
		return got, nil // the refusal says more
	}
	return t.send(ctx, method, req, fresh)
}

func (t *transport) send(ctx context.Context, method string, req *request, token string) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTime+time.Duration(len(req.body)/slowUplink)*time.Second)
	defer cancel()
	r := t.resty.R().SetContext(ctx)
	if req.body != nil {
		r.SetBody(bytes.NewReader(req.body)) // not copied, with a Content-Length
	}
	for key, values := range req.header {
		r.Header[key] = values
	}
	if token != "" {
		r.SetHeader("Authorization", "Bearer "+token)
		if user := subject(token); user != "" {
			r.SetHeader("X-User-Id", user)
		}
	}
	resp, err := r.Execute(method, req.path)
	if err != nil {
		return nil, fmt.Errorf("exporter: %s: %w", req.path, err)
	}
	body := resp.RawBody()
	defer body.Close()
	raw, err := io.ReadAll(io.LimitReader(body, answerLimit))
	if err != nil && !resp.IsSuccess() {
		return nil, fmt.Errorf("exporter: %s: answer: %w", req.path, err)
	}
	return &answer{
		status: resp.StatusCode(), body: raw, page: t.foreign(resp.Header().Get("Content-Type"), raw),
		retryAfter: resp.Header().Get("Retry-After"), date: resp.Header().Get("Date"),
	}, nil
}

// subject is the user that an access token was made for, empty where it is no JWT
// or does not say. LangSmith wants it beside the token.
func subject(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	var claims struct {
		Subject string `json:"sub"`
	}
	if err != nil || json.Unmarshal(raw, &claims) != nil || !validValue(claims.Subject) {
		return ""
	}
	return claims.Subject
}

// foreign reports whether an answer is somebody else's than the server's. LangSmith
// says a JSON object or nothing. What stands in between labels its pages as it likes.
func (t *transport) foreign(contentType string, body []byte) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	body = bytes.TrimLeft(body, " \t\r\n")
	if t.binary {
		return kind == "text/html" || len(body) > 0 && body[0] == '<'
	}
	return kind == "text/html" || len(body) > 0 && body[0] != '{'
}

// refusal describes an answer that is not a success.
func (a *answer) refusal(path string) *StatusError {
	e := &StatusError{Status: a.status, Path: path}
	var said struct {
		Error  any `json:"error"`
		Detail any `json:"detail"`
	}
	_ = json.Unmarshal(a.body, &said) // it need not be JSON
	problem, _ := said.Error.(string)
	detail, _ := said.Detail.(string)
	e.Message = cut(problem+" "+detail, messageLimit)
	return e
}

// cut shortens a text of the server's to n bytes of one line.
func cut(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.ToValidUTF8(s[:min(len(s), n)], "")
}

// quiet keeps resty from writing to standard error.
type quiet struct{}

func (quiet) Errorf(string, ...any) {}
func (quiet) Warnf(string, ...any)  {}
func (quiet) Debugf(string, ...any) {}
