package loopback

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Is reports whether a host, with or without a port, is this machine by its nature rather
// than by a name that may change.
func Is(hostport string) bool {
	host := hostOf(hostport)
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// hostOf is a host without its port and its brackets, in small letters.
func hostOf(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	if n := len(host); n > 1 && host[0] == '[' && host[n-1] == ']' {
		host = host[1 : n-1]
	}
	return strings.ToLower(host)
}

// Guard keeps web pages out of a service that no page is meant to use.
func Guard(next http.Handler) http.Handler {
	return http.NewCrossOriginProtection().Handler(Hosts(next, false))
}

// Hosts lets requests through that name this machine by its nature, or by one of names.
// remote says that other machines may connect: they do by an address, which no page can
// make its own.
func Hosts(next http.Handler, remote bool, names ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostOf(r.Host)
		addr, err := netip.ParseAddr(host)
		literal := err == nil && addr.Zone() == ""
		named := slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, host) })
		if !Is(r.Host) && !named && !(remote && literal) {
			refuse(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	line, _ := json.Marshal(map[string]string{"error": "only loopback hosts are served"})
	fmt.Fprintf(w, "%s\n", line)
}
