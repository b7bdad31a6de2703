package delivery

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"golang.org/x/net/http/httpproxy"

	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// tlsConfig is what to trust and to show beside what the system does; nil: nothing.
func tlsConfig(settings config.Config) (*tls.Config, error) {
	if settings.CAFile == "" && settings.ClientCert == "" && settings.ClientKey == "" {
		return nil, nil //nolint:nilnil // nil is the system's
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if settings.CAFile != "" {
		pem, err := readPEM(settings.CAFile)
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
		pair, err := keyPair(settings.ClientCert, settings.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("client_cert and client_key: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// maxPEM bounds a file of certificates: the largest bundles have half of it.
const maxPEM = 1 << 20

func readPEM(path string) ([]byte, error) {
	file, err := regular.Open(path) // a pipe would have the drainer wait for good
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxPEM+1))
	if err == nil && len(text) > maxPEM {
		err = fmt.Errorf("%s: larger than %d bytes", path, maxPEM)
	}
	return text, err
}

func keyPair(cert, key string) (tls.Certificate, error) {
	if cert == "" || key == "" {
		return tls.Certificate{}, errors.New("one needs the other")
	}
	shown, err := readPEM(cert)
	if err != nil {
		return tls.Certificate{}, err
	}
	secret, err := readPEM(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(shown, secret)
}

// proxy is that of the settings; nil: the environment's.
func proxy(settings config.Config, env func(string) string) func(*http.Request) (*url.URL, error) {
	own := cmp.Or(env("HTTPS_PROXY"), env("https_proxy"), env("ALL_PROXY"), env("all_proxy"))
	if settings.Proxy == "" || own != "" && settings.ProxyRemembered() {
		return nil
	}
	choose := (&httpproxy.Config{HTTPProxy: settings.Proxy, HTTPSProxy: settings.Proxy, NoProxy: settings.NoProxy}).ProxyFunc()
	return func(r *http.Request) (*url.URL, error) {
		at, err := choose(r.URL)
		if err != nil {
			return nil, errors.New("proxy: not a URL") // the error would show a password
		}
		return at, nil
	}
}
