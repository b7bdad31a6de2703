package config

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/tracesmith/tracesmith/runtypes"
)

// remoteOf reads the remote of a repository by hand, since a hook has no time for more:
// that of origin, else the only one, as where returns it. Includes and rewritten addresses
// are not followed. Where there is none both results are empty.
func remoteOf(gitDir string) (repo, org string) {
	if gitDir == "" {
		return "", ""
	}
	text, err := readFile(filepath.Join(gitDir, "config"), maxFile)
	if err != nil {
		return "", ""
	}
	remotes := remotesIn(string(text))
	found := remotes["origin"]
	if found == "" && len(remotes) == 1 {
		for _, only := range remotes {
			found = only
		}
	}
	return where(found)
}

// remotesIn finds the first address of each remote in a repository's configuration. Names
// of sections and keys are in any case, as git has them.
func remotesIn(text string) map[string]string {
	remotes := map[string]string{}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			head, rest, _ := strings.Cut(line, "]")
			kind, name, quoted := strings.Cut(head[1:], `"`)
			section = ""
			if quoted && strings.EqualFold(strings.TrimSpace(kind), "remote") {
				section = strings.TrimSuffix(name, `"`)
			}
			line = strings.TrimSpace(rest) // git takes a key on the same line
		}
		key, value, ok := strings.Cut(line, "=")
		if ok && section != "" && strings.EqualFold(strings.TrimSpace(key), "url") && remotes[section] == "" {
			remotes[section] = plain(value)
		}
	}
	return remotes
}

// plain is a value without its quotes and the comment after it.
func plain(value string) string {
	value = strings.TrimSpace(value)
	if rest, ok := strings.CutPrefix(value, `"`); ok {
		value, _, _ = strings.Cut(rest, `"`)
		return value
	}
	if at := strings.IndexAny(value, "#;"); at >= 0 {
		value = value[:at]
	}
	return strings.TrimSpace(value)
}

// where is one name for a repository, however its address is written, and its owner: in
// small letters, without user, usual port, query and dots.
func where(address string) (repo, org string) {
	address, _, _ = strings.Cut(address, "?")
	url, _, _ := runtypes.Repo{URL: address}.Web()
	host, name, ok := strings.Cut(strings.ToLower(strings.TrimPrefix(url, "https://")), "/")
	for _, port := range []string{":443", ":80", ":22"} {
		host = strings.TrimSuffix(host, port)
	}
	host = strings.TrimSuffix(host, ".")
	switch host { // the names that hosts have for SSH where only port 443 is open
	case "ssh.github.com":
		host = "github.com"
	case "altssh.gitlab.com":
		host = "gitlab.com"
	case "altssh.bitbucket.org":
		host = "bitbucket.org"
	}
	name = strings.TrimSuffix(path.Clean("/"+name), ".git") // as git's client takes the dots out
	if !ok || host == "" || name == "/" {
		return "", ""
	}
	return host + name, strings.Trim(path.Dir(name), "/")
}
