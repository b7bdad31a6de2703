package exporter

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// check finds what no request could be made with. No error repeats a value: it may
// be a key, or hold a password.
func (c *Config) check() error {
	if c.unusable != nil {
		return c.unusable
	}
	if err := checkEndpoint(c.Endpoint); err != nil {
		return fmt.Errorf("exporter: endpoint: %w", err)
	}
	if !c.AllowHTTP && !private(c.Endpoint) {
		return ErrPlainHTTP
	}
	if c.MaxBatch < 0 || c.MaxBytes < 0 || c.QueueBytes < 0 || c.InFlight < 0 || c.Interval < 0 || c.MaxElapsed < 0 {
		return errors.New("exporter: a limit in Config is negative")
	}
	switch {
	case c.Level < 0 || c.Level > 22:
		return errors.New("exporter: Level is not between 1 and 22")
	case len(c.Replicas) > 0:
		return errors.New("exporter: a Client has one destination: see Config.Split")
	case c.Sampling != nil && !(*c.Sampling >= 0 && *c.Sampling <= 1):
		return errors.New("exporter: Sampling is not between 0 and 1")
	case c.Project != "" && c.Address != "":
		return errors.New("exporter: runs go to a Project or to an Address, not to both")
	}
	return c.checkHeaders()
}

// checkHeaders finds what net/http would refuse to send. It would do so for every
// request, and that looks like a connection that fails.
func (c *Config) checkHeaders() error {
	switch {
	case !validValue(c.APIKey):
		return errors.New("exporter: APIKey holds a control character")
	case !validValue(c.WorkspaceID):
		return errors.New("exporter: WorkspaceID holds a control character")
	}
	for _, set := range []http.Header{c.Header, c.Credentials} {
		for name, values := range set {
			if !validName(name) {
				return fmt.Errorf("exporter: header %q is no name", name)
			}
			for _, value := range values {
				if !validValue(value) {
					return fmt.Errorf("exporter: header %s holds a control character", name)
				}
			}
		}
	}
	return nil
}

func validValue(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
}

// validName reports whether text is a token of RFC 9110.
func validName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
}

func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return errors.New("not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("scheme %q is neither http nor https", u.Scheme)
	case u.Host == "":
		return errors.New("no host")
	case u.User != nil:
		return errors.New("holds credentials; use APIKey")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("holds a query or a fragment")
	}
	return nil
}

// ErrPlainHTTP says that runs and the key would cross a network unencrypted.
var ErrPlainHTTP = errors.New("exporter: endpoint: http:// is for this machine: use https://, or allow it")

// plain reports whether what goes to an endpoint is not encrypted.
func plain(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && u.Scheme == "http"
}

// private reports whether nobody but this machine sees what goes to an endpoint. What its
// name resolves to is seen to when it is dialled.
func private(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" {
		return true // https, or refused for what it is
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost")
}

// joined is a map with the members of both; those of the first win.
func joined(first, second map[string]any) map[string]any {
	all := make(map[string]any, len(first)+len(second))
	maps.Copy(all, second)
	maps.Copy(all, first)
	return all
}
