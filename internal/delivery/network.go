package delivery

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/tracesmith/tracesmith/internal/config"
)

// Bounds of the command that prints the key.
const (
	keyTime  = 10 * time.Second
	keyBytes = 4 << 10
)

// keyFrom runs the command that prints the API key. Its errors show nothing of what it
// printed.
func keyFrom(line string, env func(string) string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), keyTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "cmd", "/C", line)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	if dir := env("HOME"); dir != "" {
		cmd.Dir = dir // not where the agent works: a project's files are not to be run
	}
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("api_key_command: %w", err)
	}
	key := strings.TrimSpace(out.String())
	if key == "" || len(key) > keyBytes || strings.ContainsAny(key, "\r\n") {
		return "", errors.New("api_key_command: want one line, the key")
	}
	return key, nil
}

// tlsConfig is what to trust and to show beside what the system does; nil: nothing.
func tlsConfig(settings config.Config) (*tls.Config, error) {
	if settings.CAFile == "" && settings.ClientCert == "" && settings.ClientKey == "" {
		return nil, nil //nolint:nilnil // nil is the system's
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if settings.CAFile != "" {
		pem, err := os.ReadFile(settings.CAFile)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca_file: %s holds no certificate", settings.CAFile)
		}
		cfg.RootCAs = pool
	}
	if settings.ClientCert != "" || settings.ClientKey != "" {
		pair, err := tls.LoadX509KeyPair(settings.ClientCert, settings.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("client_cert and client_key: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// proxy is that of the settings; nil: the environment's.
func proxy(settings config.Config, env func(string) string) func(*http.Request) (*url.URL, error) {
	own := cmp.Or(env("HTTPS_PROXY"), env("https_proxy"), env("ALL_PROXY"), env("all_proxy"))
	if settings.Proxy == "" || own != "" && settings.ProxyRemembered() {
		return nil
	}
	choose := (&httpproxy.Config{HTTPProxy: settings.Proxy, HTTPSProxy: settings.Proxy, NoProxy: settings.NoProxy}).ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
}
