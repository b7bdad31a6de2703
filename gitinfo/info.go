package gitinfo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/tracesmith/tracesmith/internal/githead"
	"github.com/tracesmith/tracesmith/runtypes"
)

// ErrNoRepository says that a folder is in no repository with a worktree.
var ErrNoRepository = errors.New("gitinfo: not in a git repository")

// Info is what is known of a folder's repository. An empty field is not known.
type Info struct {
	Root             string // absolute path of the worktree's root
	WorkingDirectory string // absolute path of the folder that was asked about
	Branch           string // short name; empty when HEAD is detached
	SHA              string // 40 or 64 hex digits; empty before the first commit
	URL              string // of the remote, without credentials, query and fragment
	Name             string // owner/name
	Provider         string // github, gitlab, bitbucket or other
}

// Repo returns the part that is stamped on a run.
func (i Info) Repo() runtypes.Repo {
	return runtypes.Repo{URL: i.URL, Branch: i.Branch, SHA: i.SHA}
}

// Lookup describes the repository that dir is in. It runs for a second at most
// and ends earlier with ctx. What was found stands in the Info whatever the
// error: WorkingDirectory always does. The error is [ErrNoRepository], ctx's own,
// or that of a path that cannot be made absolute.
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
	info.Root, info.Branch, info.SHA = head.Root, head.Branch, head.SHA
	return info, ctx.Err()
}
