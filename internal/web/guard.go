package web

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/internal/loopback"
)

// policy lets the page's own files do what they do, and nothing else at all.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP serves one request to those who may ask.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "only GET is served")
	case !h.host(r):
		refuse(w, http.StatusForbidden, "this name is not the page's: open the address that was printed, or name it with --host")
	case !sameOrigin(r):
		refuse(w, http.StatusForbidden, "another page may not ask")
	case h.enters(r):
		http.SetCookie(w, &http.Cookie{
			Name: cookieName(r), Value: h.cfg.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
		header.Set("Location", "/") // the token leaves the address
		w.WriteHeader(http.StatusSeeOther)
	case !h.knows(r):
		refuse(w, http.StatusForbidden, "no token: open the address that tracesmith printed")
	default:
		h.mux.ServeHTTP(w, r)
	}
}

// host reports whether the request calls the page by a name of its own: loopback with
// the port it came in by, or one that was configured, with any port. A name that
// somebody made resolve to loopback is not among them.
func (h *Handler) host(r *http.Request) bool {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, port = r.Host, "80"
	}
	if slices.ContainsFunc(h.cfg.Hosts, func(name string) bool { return strings.EqualFold(name, host) }) {
		return true
	}
	return loopback.Is(host) && port == localPort(r)
}

func localPort(r *http.Request) string {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		if _, port, err := net.SplitHostPort(addr.String()); err == nil {
			return port
		}
	}
	return ""
}

// sameOrigin reports whether the request comes from the page itself or from the address
// bar. The Host was checked before.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, r.Host)
}

// enters reports whether this is the address that was printed.
func (h *Handler) enters(r *http.Request) bool {
	return r.URL.Path == "/" && r.URL.RawQuery != "" && h.right(r.URL.Query().Get("token"))
}

// knows reports whether the request shows the token, in the cookie or as a bearer.
func (h *Handler) knows(r *http.Request) bool {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return h.right(bearer)
	}
	cookie, err := r.Cookie(cookieName(r))
	return err == nil && h.right(cookie.Value)
}

func (h *Handler) right(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(h.cfg.Token)) == 1
}

// cookieName has the port in it: browsers send a host's cookies to all its ports.
func cookieName(r *http.Request) string { return "tracesmith-" + localPort(r) }
