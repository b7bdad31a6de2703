package delivery

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/config"
)

func TestAServerMayAskForACertificate(t *testing.T) {
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "laptop"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	certFile, keyFile := write("cert.pem", "CERTIFICATE", der), write("key.pem", "EC PRIVATE KEY", keyDER)

	var shown string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		shown = r.TLS.PeerCertificates[0].Subject.CommonName
	}))
	cfg, err := tlsConfig(config.Config{CAFile: certFile, ClientCert: certFile, ClientKey: keyFile})
	if err != nil || len(cfg.Certificates) != 1 {
		t.Fatal(err)
	}
	server.TLS = cfg.Clone()
	server.TLS.ClientAuth, server.TLS.Certificates = tls.RequireAnyClientCert, nil
	server.StartTLS()
	defer server.Close()
	cfg.RootCAs.AddCert(server.Certificate())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: cfg}}
	answer, err := client.Get(server.URL)
	if err != nil || shown != "laptop" {
		t.Fatalf("%q, %v", shown, err)
	}
	_ = answer.Body.Close()
	client.CloseIdleConnections()

	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	otherDER, err := x509.MarshalECPrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	wrong := write("other.pem", "EC PRIVATE KEY", otherDER)
	for _, bad := range []config.Config{
		{CAFile: keyFile}, {CAFile: filepath.Join(dir, "none")}, {CAFile: os.DevNull}, {CAFile: dir}, {ClientCert: certFile}, {ClientKey: keyFile},
		{ClientCert: certFile, ClientKey: wrong}, {ClientCert: certFile, ClientKey: certFile}, {ClientCert: certFile, ClientKey: os.DevNull},
	} {
		bad.APIKey = "key"
		places := Places(bad, func(string) string { return "" })
		if len(places) != 1 || places[0].Err == nil || strings.ContainsAny(places[0].Err.Error(), "\r\n") {
			t.Errorf("%+v was taken, or is explained in many lines: %+v", bad, places)
		}
	}
}

func TestAStoredProxyGivesWayToTheEnvironments(t *testing.T) {
	dir := t.TempDir()
	vars := map[string]string{"HOME": dir, "USERPROFILE": dir, "XDG_CONFIG_HOME": dir, "HTTPS_PROXY": "http://proxy.example:3128", "NO_PROXY": "in.example"}
	env := func(name string) string { return vars[name] }
	if stored, err := config.RememberProxy(env); err != nil || stored != "http://proxy.example:3128" {
		t.Fatalf("%q, %v", stored, err)
	}
	through := func(url string) string {
		settings, err := config.Load(config.Options{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		settings.APIKey = "key"
		cfg, ok, err := Config(settings, env)
		if !ok || err != nil {
			t.Fatal(err)
		}
		if cfg.Proxy == nil {
			return "the environment's"
		}
		r := httptest.NewRequest(http.MethodGet, url, nil)
		at, err := cfg.Proxy(r)
		if err != nil || at == nil {
			return ""
		}
		return at.Host
	}
	if got := through("https://smith.example"); got != "the environment's" {
		t.Error(got)
	}
	delete(vars, "HTTPS_PROXY")
	if got := through("https://smith.example"); got != "proxy.example:3128" {
		t.Error(got)
	}
	if got := through("https://in.example"); got != "" {
		t.Error(got)
	}
	vars["HTTPS_PROXY"] = "http://me:secret@proxy.example"
	if stored, err := config.RememberProxy(env); err != nil || stored != "" {
		t.Errorf("a password was stored: %q, %v", stored, err)
	}
}

func TestAPasswordOfAProxyIsInNoErrorOfIt(t *testing.T) {
	choose := proxy(config.Config{Proxy: "http://me:hunter2@proxy.example:bad"}, func(string) string { return "" })
	at, err := choose(httptest.NewRequest(http.MethodGet, "https://smith.example", nil))
	if err != nil && strings.Contains(err.Error(), "hunter2") || err == nil && at == nil {
		t.Errorf("%v, %v", at, err)
	}
}
