package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/tracesmith/tracesmith/internal/config"
)

// fault is why a request did not get through: the layer that failed, what happened
// there and what to do.
type fault struct{ layer, text, fix string }

// explain finds the layer that failed, from the error and from how far the request
// came.
func explain(err error, j *journey, t Target, patience time.Duration) fault {
	j.mu.Lock()
	defer j.mu.Unlock()
	host, tunnels := t.Endpoint, false
	if u, bad := url.Parse(t.Endpoint); bad == nil {
		host, tunnels = u.Host, u.Scheme == "https"
	}
	if j.proxy != nil && (!j.connected || tunnels && j.tunnel != http.StatusOK) {
		return proxyFault(err, j, t, host, tunnels)
	}
	if f, ok := tlsFault(err, host); ok {
		return f
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return fault{"DNS", fmt.Sprintf("the name %s is not known", host),
			"check the spelling of endpoint (from " + t.EndpointSource + "), the network and the VPN"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return fault{"TCP", host + " refuses connections", "is the server up, and endpoint (from " + t.EndpointSource + ") right? Behind a firewall set HTTPS_PROXY"}
	case timedOut(err) && !j.connected:
		return fault{"TCP", fmt.Sprintf("no connection to %s within %s", host, patience), "a firewall drops it? Behind one set HTTPS_PROXY"}
	case timedOut(err) && j.written:
		return fault{"server", fmt.Sprintf("%s took the connection and does not answer (%s)", host, patience),
			"try again later; what is recorded is kept and sent then"}
	case timedOut(err):
		return fault{"TLS", fmt.Sprintf("%s took the connection and does not greet (%s)", host, patience), "is endpoint (from " + t.EndpointSource + ") a server that speaks TLS?"}
	case !j.connected:
		return fault{"TCP", fmt.Sprintf("no connection to %s: %v", host, reason(err)), "check the network, the VPN and endpoint (from " + t.EndpointSource + ")"}
	}
	return fault{"server", fmt.Sprintf("%s broke the connection off: %v", host, reason(err)), "a proxy or firewall in between? Try again later; what is recorded is kept"}
}

// proxyFault explains a failure on the way to the proxy or at it.
func proxyFault(err error, j *journey, t Target, host string, tunnels bool) fault {
	proxy, setting, exempt := config.WithoutPassword(j.proxy.String()), "HTTP_PROXY", "NO_PROXY"
	switch {
	case t.ProxySource != "":
		setting, exempt = "proxy (from "+t.ProxySource+")", "no_proxy"
	case tunnels:
		setting = "HTTPS_PROXY"
	}
	fix := "check " + setting + ", or name " + host + " in " + exempt
	switch {
	case j.tunnel == http.StatusProxyAuthRequired:
		return fault{"proxy", "the proxy " + proxy + " wants a user and a password (407)", "set " + setting + " to http://USER:PASSWORD@" + j.proxy.Host}
	case j.tunnel != 0:
		return fault{"proxy", fmt.Sprintf("the proxy %s does not connect to %s (status %d)", proxy, host, j.tunnel), "ask whoever runs the proxy to allow " + host + ", or name it in " + exempt}
	case timedOut(err):
		return fault{"proxy", "the proxy " + proxy + " does not answer", fix}
	}
	return fault{"proxy", fmt.Sprintf("no connection to the proxy %s: %v", proxy, reason(err)), fix}
}

// tlsFault explains a certificate that was not accepted.
func tlsFault(err error, host string) (fault, bool) {
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		record   tls.RecordHeaderError
		alert    tls.AlertError
	)
	switch {
	case errors.As(err, &unknown):
		issuer := ""
		if unknown.Cert != nil {
			issuer = " (issued by " + unknown.Cert.Issuer.String() + ")"
		}
		return fault{"TLS", "the certificate of " + host + " comes from an authority that this system does not know" + issuer,
			"if your company inspects TLS, put its CA into the system's trust store, or name its PEM file in SSL_CERT_FILE"}, true
	case errors.As(err, &hostname):
		return fault{"TLS", fmt.Sprintf("the certificate is not for %s but for %s", hostname.Host, names(hostname.Certificate)), "check endpoint: something else answers there"}, true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fault{"TLS", "the certificate of " + host + " is out of date, or this machine's clock is wrong", "check the clock; else the server's owner has to renew it"}, true
	case errors.As(err, &invalid):
		return fault{"TLS", "the certificate of " + host + " is not valid: " + invalid.Error(), "the server's owner has to replace it"}, true
	case errors.As(err, &record):
		return fault{"TLS", host + " does not speak TLS", "a server without TLS has an endpoint with http://, which is for this machine only"}, true
	case errors.As(err, &alert):
		return fault{"TLS", host + " refuses the handshake: " + alert.Error(), "a proxy in between, or a server that wants a client's certificate?"}, true
	}
	return fault{}, false
}

// names are those that a certificate is for.
func names(cert *x509.Certificate) string {
	switch {
	case cert == nil:
		return "another host"
	case len(cert.DNSNames) > 0:
		return cert.DNSNames[0]
	case len(cert.IPAddresses) > 0:
		return cert.IPAddresses[0].String()
	}
	return cert.Subject.String()
}

// reason is an error without the parts that repeat the address.
func reason(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
