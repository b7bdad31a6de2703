package githead

import (
	"path/filepath"
	"strings"
)

// maxHops bounds a chain of symbolic references, as git does.
const maxHops = 5

// resolve follows a reference to a hash; empty for one that does not exist, as
// on a branch without a commit.
func resolve(head Head, name string) string {
	for range maxHops {
		line, ok := loose(head, name)
		if !ok {
			return packed(filepath.Join(head.Common, "packed-refs"), name)
		}
		if isHash(line) {
			return line
		}
		if name, ok = refTarget(line); !ok {
			return ""
		}
	}
	return ""
}

// loose reads a reference from its own file. Branches are shared between
// worktrees; only a few other references are a worktree's own.
func loose(head Head, name string) (string, bool) {
	if !strings.HasPrefix(name, headsPrefix) {
		if line, ok := readLine(filepath.Join(head.Dir, filepath.FromSlash(name))); ok {
			return line, true
		}
	}
	return readLine(filepath.Join(head.Common, filepath.FromSlash(name)))
}

// refTarget returns the name in a symbolic reference: "ref: refs/heads/main".
func refTarget(line string) (string, bool) {
	name, ok := strings.CutPrefix(line, "ref:")
	name = strings.TrimSpace(name)
	return name, ok && isRefName(name)
}

// isRefName reports whether name is a reference that may be read as a path below
// the git directory: a hostile HEAD must not lead out of it.
func isRefName(name string) bool {
	if !strings.HasPrefix(name, "refs/") || strings.ContainsAny(name, "\\:?*[~^ \x7f") {
		return false
	}
	for i := range len(name) {
		if name[i] < ' ' {
			return false
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || strings.Contains(part, "..") {
			return false
		}
	}
	return true
}

// isHash reports whether s is a full SHA-1 or SHA-256 hash.
func isHash(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
