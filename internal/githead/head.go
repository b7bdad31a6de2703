package githead

import (
	"os"
	"path/filepath"
	"strings"
)

// Head is where a repository stands. The zero Head means that there is none.
type Head struct {
	Branch string // short name; empty when detached or not known
	SHA    string // 40 or 64 hex digits; empty on an unborn branch or when not known
	Root   string // the folder that holds .git, symbolic links resolved
	Dir    string // the git directory of this worktree
	Common string // the git directory that holds the shared references and config
}

// headsPrefix is where branches live among the references.
const headsPrefix = "refs/heads/"

// Read finds the repository that dir is in and reads its HEAD. It never fails: a
// field that cannot be told is empty.
func Read(dir string) Head {
	head := find(dir)
	if head.Root == "" {
		return head
	}
	target, ok := readHEAD(head.Dir)
	if !ok {
		return head
	}
	if isHash(target) {
		head.SHA = target
		head.Branch = rebasing(head.Dir)
		return head
	}
	if target == headsPrefix+".invalid" {
		return head // reftable puts this in HEAD for programs that read it as a file
	}
	if branch, isBranch := strings.CutPrefix(target, headsPrefix); isBranch {
		head.Branch = branch
	}
	head.SHA = resolve(head, target)
	return head
}

// readHEAD returns what HEAD holds: a hash or the full name of a reference.
func readHEAD(gitDir string) (target string, ok bool) {
	path := filepath.Join(gitDir, "HEAD")
	if link, err := os.Readlink(path); err == nil {
		// Ancient repositories have a symbolic link into refs instead of a file.
		link = filepath.ToSlash(link)
		return link, isRefName(link)
	}
	line, ok := readLine(path)
	if !ok {
		return "", false
	}
	if isHash(line) {
		return line, true
	}
	name, ok := refTarget(line)
	return name, ok
}

// rebasing names the branch that a rebase in progress will come back to: HEAD is
// detached meanwhile.
func rebasing(gitDir string) string {
	for _, state := range []string{"rebase-merge", "rebase-apply"} {
		line, ok := readLine(filepath.Join(gitDir, state, "head-name"))
		if !ok {
			continue
		}
		if branch, ok := strings.CutPrefix(line, headsPrefix); ok && isRefName(line) {
			return branch
		}
	}
	return ""
}
