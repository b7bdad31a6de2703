package gitinfo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	format "github.com/go-git/go-git/v5/plumbing/format/config"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/tracesmith/tracesmith/internal/githead"
)

// maxConfig bounds a repository's configuration file.
const maxConfig = 1 << 20

// byLibrary asks go-git. It refuses repositories with extensions (worktreeConfig,
// partialClone, sha256, reftable), follows no include and applies no insteadOf; the
// last two make its answer doubtful.
//
// go-git's storage is all that this takes: the package git above it links SSH and
// OpenPGP, four megabytes of a program that hooks start.
func byLibrary(head githead.Head) (answer, error) {
	if err := checkFiles(head); err != nil {
		return answer{}, err
	}
	dir := dotgit.NewRepositoryFilesystem(osfs.New(head.Dir), osfs.New(head.Common))
	repo := filesystem.NewStorage(dir, cache.NewObjectLRUDefault())
	cfg, err := repo.Config()
	if err != nil {
		return answer{}, fmt.Errorf("gitinfo: config: %w", err)
	}
	if extended(cfg) {
		return answer{}, errExtended
	}
	found := answer{root: head.Root, branch: head.Branch}
	ref, err := repo.Reference(plumbing.HEAD)
	if err != nil {
		return answer{}, fmt.Errorf("gitinfo: HEAD: %w", err)
	}
	// A detached HEAD keeps the branch that githead found: that of a rebase in
	// progress, or of a HEAD that is a symbolic link.
	if name := ref.Target(); ref.Type() == plumbing.SymbolicReference {
		found.branch = ""
		if name.IsBranch() {
			found.branch = name.Short()
		}
		ref, err = storer.ResolveReference(repo, name)
	}
	switch {
	case err == nil:
		found.sha = ref.Hash().String()
	case !errors.Is(err, plumbing.ErrReferenceNotFound): // not found: no commit yet
		return answer{}, fmt.Errorf("gitinfo: HEAD: %w", err)
	}
	found.root = worktree(cfg, head)
	found.remote = remoteIn(cfg, found.branch)
	found.doubtful = found.remote == "" || isAlias(found.remote) || includes(cfg)
	return found, nil
}

// errExtended says that references may not be where go-git looks for them.
var errExtended = errors.New("gitinfo: the repository is of another format or has extensions")

// extended reports whether a repository's configuration asks programs to leave it
// alone that do not know some extension: go-git's storage knows none and would read on.
func extended(cfg *config.Config) bool {
	switch cfg.Core.RepositoryFormatVersion {
	case "", format.Version_0, format.Version_1:
	default:
		return true
	}
	if !cfg.Raw.HasSection("extensions") {
		return false
	}
	return slices.ContainsFunc(cfg.Raw.Section("extensions").Options, func(o *format.Option) bool {
		return !strings.EqualFold(o.Key, "noop") && !strings.EqualFold(o.Key, "noop-v1") // they change nothing
	})
}

// byHand takes HEAD from the files and the remote from the configuration file
// alone, which it reads without asking what extensions are in it.
func byHand(head githead.Head) answer {
	found := answer{root: head.Root, branch: head.Branch, sha: head.SHA}
	raw, err := readConfig(head)
	if err != nil {
		return found
	}
	cfg := config.NewConfig()
	if cfg.Unmarshal(raw) != nil {
		return found
	}
	found.root = worktree(cfg, head)
	if remote := remoteIn(cfg, found.branch); !isAlias(remote) {
		found.remote = remote
	}
	return found
}

// remoteIn picks the remote that names the repository: origin, else the one the
// branch follows, else the only one.
func remoteIn(cfg *config.Config, branch string) string {
	urls := make(map[string]string, len(cfg.Remotes))
	for name, remote := range cfg.Remotes {
		if len(remote.URLs) > 0 {
			urls[name] = remote.URLs[0]
		}
	}
	follows := ""
	if b := cfg.Branches[branch]; b != nil {
		follows = b.Remote
	}
	return urls[pick(urls, follows)]
}

// pick names the remote among several; empty if none stands out.
func pick(urls map[string]string, follows string) string {
	if _, ok := urls["origin"]; ok {
		return "origin"
	}
	if _, ok := urls[follows]; ok {
		return follows
	}
	if len(urls) == 1 {
		for name := range urls {
			return name
		}
	}
	return ""
}

// worktree is the root that core.worktree sets, or the folder with .git.
func worktree(cfg *config.Config, head githead.Head) string {
	set := cfg.Raw.Section("core").Option("worktree")
	if set == "" {
		return head.Root
	}
	if !filepath.IsAbs(set) {
		set = filepath.Join(head.Dir, set)
	}
	if physical, err := filepath.EvalSymlinks(set); err == nil {
		return physical
	}
	return head.Root
}

// includes reports whether more configuration stands in other files.
func includes(cfg *config.Config) bool {
	for _, section := range cfg.Raw.Sections {
		if section.IsName("include") || section.IsName("includeIf") {
			return true
		}
	}
	return false
}

// checkFiles refuses what go-git would wait for or choke on: a pipe in a file's
// place, a configuration beyond all measure.
func checkFiles(head githead.Head) error {
	for _, path := range []string{
		filepath.Join(head.Dir, "HEAD"), filepath.Join(head.Common, "config"), filepath.Join(head.Common, "packed-refs"),
	} {
		info, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("gitinfo: %w", err)
		}
		if !info.Mode().IsRegular() || (filepath.Base(path) == "config" && info.Size() > maxConfig) {
			return fmt.Errorf("gitinfo: %s is no file of git's", path)
		}
	}
	return nil
}

func readConfig(head githead.Head) ([]byte, error) {
	if err := checkFiles(head); err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(head.Common, "config"))
	if err != nil {
		return nil, fmt.Errorf("gitinfo: %w", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxConfig))
	if err != nil {
		return nil, fmt.Errorf("gitinfo: config: %w", err)
	}
	return raw, nil
}
