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
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/config"
)

func TestTheKeyIsWhatTheCommandPrints(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a POSIX shell")
	}
	home := t.TempDir()
	env := func(name string) string { return map[string]string{"HOME": home}[name] }
	check := func(command, want string) {
		t.Helper()
		cfg, err := Config(config.Config{KeyCommand: command}, env)
		if cfg.APIKey != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", command, cfg.APIKey, err)
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("the error shows what was printed: %v", err)
		}
	}
	check("echo lsv2_pt_key", "lsv2_pt_key")
	check("printf 'lsv2_pt_key'", "lsv2_pt_key")
	check("pwd", home) // not where the agent works
	check("true", "")
	check("echo hush; echo hush", "")
	check("echo hush; exit 1", "")
	check("head -c 5000 /dev/zero | tr '\\0' x", "")
}

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

	for _, bad := range []config.Config{{CAFile: keyFile}, {CAFile: filepath.Join(dir, "none")}, {ClientCert: certFile}, {ClientKey: keyFile}} {
		if _, err := tlsConfig(bad); err == nil {
			t.Errorf("%+v was taken", bad)
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
		cfg, err := Config(settings, env)
		if err != nil {
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
