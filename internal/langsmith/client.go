package langsmith

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 4 << 20

// Client asks one LangSmith. Endpoint is needed.
type Client struct {
	Endpoint    string
	APIKey      string
	WorkspaceID string
	// Token gives the access token where there is no key, as exporter.Config.Token.
	Token func(ctx context.Context, refused string) (string, error)
	HTTP  *http.Client // nil: the default transport, which follows no redirect
}

// StatusError is an answer that refuses a question.
type StatusError struct {
	Status  int
	Path    string
	Message string // the server's explanation, cut short
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("langsmith: %s: status %d", e.Path, e.Status)
}

// ErrForeign says that the answer did not come from LangSmith.
var ErrForeign = errors.New("langsmith: the answer is not LangSmith's")

// Run is what LangSmith says of a run.
type Run struct {
	ID      string `json:"id"`
	Project string `json:"session_id"`
	Tenant  string `json:"tenant_id"`
	AppPath string `json:"app_path"` // of its page, on the host of the pages
}

// Run looks a run up. One that is not there, or not yet, is a StatusError of 404.
func (c *Client) Run(ctx context.Context, id string) (Run, error) {
	var run Run
	if err := c.get(ctx, "/runs/"+url.PathEscape(id), &run); err != nil {
		return Run{}, err
	}
	if run.ID == "" {
		return Run{}, ErrForeign
	}
	return run, nil
}

// Check asks whether the key may read anything.
func (c *Client) Check(ctx context.Context) error {
	var projects []json.RawMessage
	return c.get(ctx, "/sessions?limit=1", &projects)
}

func (c *Client) get(ctx context.Context, path string, into any) error {
	token, err := c.token(ctx, "")
	if err != nil {
		return err
	}
	status, raw, err := c.ask(ctx, path, token)
	if err == nil && status == http.StatusUnauthorized && token != "" {
		if fresh, failed := c.token(ctx, token); failed == nil && fresh != token {
			status, raw, err = c.ask(ctx, path, fresh)
		}
	}
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return refusal(status, path, raw)
	case json.Unmarshal(raw, into) != nil:
		return ErrForeign
	}
	return nil
}

// token is what authenticates where there is no key; empty: nothing does.
func (c *Client) token(ctx context.Context, refused string) (string, error) {
	if c.APIKey != "" || c.Token == nil {
		return "", nil
	}
	token, err := c.Token(ctx, refused)
	if err != nil {
		return "", fmt.Errorf("langsmith: token: %w", err)
	}
	return token, nil
}

// ask asks once.
func (c *Client) ask(ctx context.Context, path, token string) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.Endpoint, "/")+path, http.NoBody)
	if err != nil {
		return 0, nil, fmt.Errorf("langsmith: %w", err)
	}
	switch {
	case c.APIKey != "":
		req.Header.Set("x-api-key", c.APIKey)
	case token != "":
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if c.WorkspaceID != "" {
		req.Header.Set("X-Tenant-Id", c.WorkspaceID)
	}
	resp, err := c.client().Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("langsmith: %w", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return 0, nil, fmt.Errorf("langsmith: %w", err)
	}
	return resp.StatusCode, raw, nil
}

// client follows no redirect: the key is a header that would go along.
func (c *Client) client() *http.Client {
	own := http.Client{Transport: http.DefaultTransport}
	if c.HTTP != nil {
		own = *c.HTTP
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

func refusal(status int, path string, body []byte) error {
	const longest = 200
	var said struct {
		Error  string `json:"error"`
		Detail any    `json:"detail"`
	}
	_ = json.Unmarshal(body, &said) // it need not be JSON
	text, _ := said.Detail.(string)
	text = strings.ToValidUTF8(strings.Join(strings.Fields(said.Error+" "+text), " "), "")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "")
	}
	path, _, _ = strings.Cut(path, "?")
	return &StatusError{Status: status, Path: path, Message: text}
}
