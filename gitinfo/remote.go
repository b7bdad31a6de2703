package gitinfo

import (
	"regexp"
	"strings"
)

// cleanURL returns a remote without user, password, query and fragment; empty for
// a local path and for what cannot be told apart for sure. It accepts https, http,
// ssh and git URLs and the scp form host:path. The user of ssh goes, too: it may
// be a token, and says nothing of the repository.
func cleanURL(remote string) string {
	remote = strings.TrimSpace(remote)
	if strings.ContainsFunc(remote, func(c rune) bool { return c <= ' ' || c == 0x7f || c == '\\' }) {
		return ""
	}
	scheme, rest, ok := strings.Cut(remote, "://")
	if !ok {
		return cleanSCP(remote)
	}
	scheme = strings.ToLower(scheme)
	switch scheme {
	case "https", "http", "ssh", "git", "git+ssh", "ssh+git":
	default:
		return ""
	}
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	i := strings.LastIndexByte(host, '@')
	if i < 0 && strings.Contains(path, "@") && (path[0] != '/' || !strings.Contains(host, ".")) {
		return "" // the host may be the first half of a password with a slash in it
	}
	host, path = host[i+1:], cutQuery(path)
	if !validHost(host) || strings.Trim(path, "/") == "" {
		return ""
	}
	return scheme + "://" + host + path
}

// cleanSCP does the same for [user@]host:path.
func cleanSCP(remote string) string {
	host, path, ok := strings.Cut(remote, ":")
	if strings.HasPrefix(remote, "[") { // [::1]:path
		var end bool
		host, path, end = strings.Cut(remote, "]:")
		host, ok = host+"]", end
	}
	if !ok || strings.Contains(host, "/") {
		return "" // a local path
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	first, _, _ := strings.Cut(path, "/")
	path = cutQuery(path)
	if len(host) < 2 || !validHost(host) || path == "" || strings.ContainsAny(first, "@:") {
		return "" // a drive's letter; user:password@host:path
	}
	return host + ":" + path
}

func cutQuery(path string) string {
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		return path[:i]
	}
	return path
}

// validHost reports whether s is a host name or address, with a port or without.
func validHost(s string) bool {
	name, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		name, port = s[:i], s[i+1:]
		if port == "" || strings.Trim(port, "0123456789") != "" {
			return false
		}
	}
	return hostName(name)
}

// hostName is a regular host, or an IPv6 address in brackets.
func hostName(name string) bool {
	matched, err := regexp.MatchString(`^(?:[0-9A-Za-z](?:[0-9A-Za-z_.-]*[0-9A-Za-z])?|\[[0-9A-Fa-f:.]+\])$`, name)
	return err == nil && matched
}

// isAlias reports whether a remote may be short for another one, by insteadOf: a
// scheme of its own, or a host that is a bare word.
func isAlias(remote string) bool {
	if scheme, _, ok := strings.Cut(remote, "://"); ok {
		return cleanURL(remote) == "" && !strings.EqualFold(scheme, "file")
	}
	host, _, ok := strings.Cut(remote, ":")
	return ok && !strings.ContainsAny(host, "/.[\\")
}
