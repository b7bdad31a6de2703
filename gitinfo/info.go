package gitinfo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tracesmith/tracesmith/internal/githead"
	"github.com/tracesmith/tracesmith/runtypes"
)

// ErrNoRepository says that a folder is in no repository with a worktree.
var ErrNoRepository = errors.New("gitinfo: not in a git repository")

// timeout bounds what the git program may take for all that it is asked.
const timeout = time.Second

// Info is what is known of a folder's repository. An empty field is not known.
type Info struct {
	Root             string // absolute path of the worktree's root
	WorkingDirectory string // absolute path of the folder that was asked about
	Branch           string // short name; empty when HEAD is detached
	SHA              string // 40 or 64 hex digits; empty before the first commit
	URL              string // of the remote, without user, password, query and fragment
	Name             string // owner/name
	Provider         string // github, gitlab, bitbucket or other
}

// Repo returns the part that is stamped on a run.
func (i Info) Repo() runtypes.Repo {
	return runtypes.Repo{URL: i.URL, Branch: i.Branch, SHA: i.SHA}
}

// Lookup describes the repository that dir is in. The git program, where it is
// needed, gets a second, or less if ctx ends before. What was found stands in the
// Info whatever the error: WorkingDirectory always does. The error is
// [ErrNoRepository], ctx's own, or that of a path that cannot be made absolute.
func Lookup(ctx context.Context, dir string) (Info, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Info{WorkingDirectory: dir}, fmt.Errorf("gitinfo: %s: %w", dir, err)
	}
	info := Info{WorkingDirectory: abs}
	head := githead.Read(abs)
	if head.Root == "" {
		return info, ErrNoRepository
	}
	found := ask(ctx, head)
	info.Root, info.Branch, info.SHA = found.root, found.branch, found.sha
	info.URL = cleanURL(found.remote)
	_, info.Provider, info.Name = runtypes.Repo{URL: info.URL}.Web()
	return info, ctx.Err()
}

// answer is what one of the three sources says.
type answer struct {
	root, branch, sha string
	remote            string // as configured
	doubtful          bool   // the git program may know better
}

// ask puts the question to go-git, to the git program where go-git refuses or is
// not sure, and else to the files.
func ask(ctx context.Context, head githead.Head) answer {
	library, refusal := byLibrary(head)
	if refusal == nil && !library.doubtful {
		return library
	}
	if program, err := byProgram(ctx, head); err == nil {
		return program
	}
	if refusal != nil {
		return byHand(head)
	}
	if isAlias(library.remote) {
		library.remote = "" // short for something that only git's configuration tells
	}
	return library
}
