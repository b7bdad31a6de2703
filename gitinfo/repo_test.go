package gitinfo

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sandbox is a folder in which git knows no configuration but its own.
type sandbox struct {
	t   *testing.T
	dir string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("GIT IS NOT INSTALLED: these tests build repositories with it")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &sandbox{t: t, dir: dir}
	home := s.path("home")
	s.write("home/.gitconfig", "[user]\n\tname = a\n\temail = a@b.test\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return s
}

func (s *sandbox) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s *sandbox) write(name, content string) {
	s.t.Helper()
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sandbox) appendTo(name, content string) {
	s.t.Helper()
	old, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(name, string(old)+content)
}

// git runs git in a folder of the sandbox.
func (s *sandbox) git(folder string, args ...string) string {
	s.t.Helper()
	out, err := s.try(folder, args...)
	if err != nil {
		s.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return out
}

func (s *sandbox) try(folder string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = s.path(folder)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

const remote = "https://github.com/owner/repo.git"

// repo makes a repository with one commit and a remote, and returns the commit.
func (s *sandbox) repo(folder string, args ...string) (sha string) {
	s.t.Helper()
	s.git(".", append([]string{"init", "-q", folder}, args...)...)
	s.write(folder+"/file", "x\n")
	s.git(folder, "add", ".")
	s.git(folder, "commit", "-q", "-m", "one")
	s.git(folder, "remote", "add", "origin", remote)
	return s.git(folder, "rev-parse", "HEAD")
}

// expect looks a folder up and compares branch, commit and remote.
func (s *sandbox) expect(folder, root, branch, sha, url string) Info {
	s.t.Helper()
	got, err := Lookup(context.Background(), s.path(folder))
	if err != nil {
		s.t.Fatal(err)
	}
	if got.Root != s.path(root) || got.Branch != branch || got.SHA != sha || got.URL != url {
		s.t.Errorf("Lookup(%s)\n got %q %q %q %q\nwant %q %q %q %q", folder, got.Root, got.Branch, got.SHA, got.URL,
			s.path(root), branch, sha, url)
	}
	if got.WorkingDirectory != s.path(folder) {
		s.t.Errorf("the working directory is %q", got.WorkingDirectory)
	}
	return got
}

// refusedByLibrary makes sure that the case is still one that go-git refuses.
func (s *sandbox) refusedByLibrary(folder string) {
	s.t.Helper()
	if _, err := byLibrary(headOf(s.path(folder))); err == nil {
		s.t.Errorf("go-git opens %s now: the case shows nothing", folder)
	}
}

func TestAPlainRepository(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	s.write("r/a/b/c", "")
	got := s.expect("r/a/b", "r", "main", sha, remote)
	if got.Name != "owner/repo" || got.Provider != "github" {
		t.Errorf("name %q, provider %q", got.Name, got.Provider)
	}
	if r := got.Repo(); r.URL != remote || r.Branch != "main" || r.SHA != sha {
		t.Errorf("repo %+v", r)
	}
	s.git("r", "pack-refs", "--all")
	s.expect("r", "r", "main", sha, remote)
}

func TestALinkedWorktree(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	s.git("r", "worktree", "add", "-q", "-b", "side", "../w")
	s.expect("w", "w", "side", sha, remote)
}

func TestExtensionsThatTheLibraryRefuses(t *testing.T) {
	for name, set := range map[string][]string{
		"worktreeConfig in format 0": {"extensions.worktreeConfig=true"},
		"worktreeConfig in format 1": {"core.repositoryformatversion=1", "extensions.worktreeConfig=true"},
		"partialClone":               {"core.repositoryformatversion=1", "extensions.partialClone=origin"},
		"preciousObjects":            {"core.repositoryformatversion=1", "extensions.preciousObjects=true"},
		"relativeWorktrees":          {"core.repositoryformatversion=1", "extensions.relativeWorktrees=true"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			sha := s.repo("r")
			for _, each := range set {
				key, value, _ := strings.Cut(each, "=")
				if _, err := s.try("r", "config", key, value); err != nil {
					t.Fatal(err)
				}
			}
			s.refusedByLibrary("r")
			s.expect("r", "r", "main", sha, remote)
		})
	}
}

func TestASparseCheckoutAndAPartialClone(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	s.git(".", "clone", "-q", "--no-local", "--filter=blob:none", "r", "c")
	s.git("c", "remote", "set-url", "origin", remote)
	s.expect("c", "c", "main", sha, remote)
	s.git("r", "sparse-checkout", "set", "a")
	s.expect("r", "r", "main", sha, remote)
}

func TestASHA256Repository(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r", "--object-format=sha256")
	if len(sha) != 64 {
		t.Fatalf("git made %q", sha)
	}
	s.refusedByLibrary("r")
	s.expect("r", "r", "main", sha, remote)
}

// No git that is common yet can make one: it is laid by hand.
func TestAReftableRepositoryIsUnknownWhereGitIsTooOld(t *testing.T) {
	s := newSandbox(t)
	s.repo("r")
	s.write("r/.git/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n[remote \"origin\"]\n\turl = "+remote+"\n")
	s.write("r/.git/HEAD", "ref: refs/heads/.invalid\n")
	s.write("r/.git/refs/heads/.keep", "")
	s.refusedByLibrary("r")
	if _, err := s.try("r", "rev-parse", "--show-toplevel"); err == nil {
		t.Skip("this git knows reftable, and the repository is not a real one")
	}
	s.expect("r", "r", "", "", remote)
}

func TestADetachedHEAD(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	s.git("r", "checkout", "-q", "--detach")
	s.expect("r", "r", "", sha, remote)
}

func TestARebaseInProgressKeepsItsBranch(t *testing.T) {
	s := newSandbox(t)
	s.repo("r")
	s.git("r", "checkout", "-q", "-b", "topic")
	s.write("r/file", "topic\n")
	s.git("r", "commit", "-qam", "two")
	s.git("r", "checkout", "-q", "main")
	s.write("r/file", "main\n")
	s.git("r", "commit", "-qam", "three")
	s.git("r", "checkout", "-q", "topic")
	if _, err := s.try("r", "rebase", "main"); err == nil {
		t.Fatal("the rebase went through")
	}
	s.expect("r", "r", "topic", s.git("r", "rev-parse", "HEAD"), remote)
	s.git("r", "config", "extensions.worktreeConfig", "true") // the same by the program
	s.expect("r", "r", "topic", s.git("r", "rev-parse", "HEAD"), remote)
}

func TestAnUnbornBranch(t *testing.T) {
	s := newSandbox(t)
	s.git(".", "init", "-q", "r")
	s.expect("r", "r", "main", "", "")
	s.git("r", "remote", "add", "origin", remote)
	s.expect("r", "r", "main", "", remote)
	s.git("r", "config", "extensions.worktreeConfig", "true")
	s.expect("r", "r", "main", "", remote)
}

func TestABareRepositoryIsNone(t *testing.T) {
	s := newSandbox(t)
	s.git(".", "init", "-q", "--bare", "b")
	got, err := Lookup(context.Background(), s.path("b"))
	if !errors.Is(err, ErrNoRepository) || got != (Info{WorkingDirectory: s.path("b")}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestASubmoduleAndASeparateGitDir(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("lib")
	s.repo("r")
	s.git("r", "submodule", "--quiet", "add", s.path("lib"), "sub")
	s.git("r/sub", "remote", "set-url", "origin", "https://gitlab.com/group/lib.git")
	s.expect("r/sub", "r/sub", "main", sha, "https://gitlab.com/group/lib.git")
	s.git(".", "init", "-q", "--separate-git-dir", "store", "w")
	s.git("w", "remote", "add", "origin", remote)
	s.expect("w", "w", "main", "", remote)
}

func TestARepositoryOfAnotherOwner(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	if err := filepath.Walk(s.path("r"), func(path string, _ os.FileInfo, err error) error {
		return errors.Join(err, os.Lchown(path, 12345, 12345))
	}); err != nil {
		t.Skipf("only root can give files away: %v", err)
	}
	s.expect("r", "r", "main", sha, remote)
}

func TestTheEnvironmentOfAGitHookIsIgnored(t *testing.T) {
	s := newSandbox(t)
	s.repo("other")
	sha := s.repo("r")
	s.git("r", "config", "extensions.worktreeConfig", "true")
	s.git("r", "checkout", "-q", "-b", "mine")
	t.Setenv("GIT_DIR", s.path("other/.git"))
	t.Setenv("GIT_WORK_TREE", s.path("other"))
	t.Setenv("GIT_INDEX_FILE", s.path("other/.git/index"))
	s.expect("r", "r", "mine", sha, remote)
}

func TestCredentialsAreStrippedWhoeverAnswers(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	s.git("r", "remote", "set-url", "origin", "https://bob:hunter22@github.com/owner/repo.git?token=hunter22#x")
	s.expect("r", "r", "main", sha, remote)
	s.git("r", "config", "extensions.worktreeConfig", "true")
	s.expect("r", "r", "main", sha, remote)
}

func TestInsteadOfIsApplied(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	s.appendTo("home/.gitconfig", "[url \"https://x-access-token:hunter22@github.com/\"]\n\tinsteadOf = gh:\n")
	s.git("r", "remote", "set-url", "origin", "gh:owner/repo.git")
	s.expect("r", "r", "main", sha, remote)
	t.Setenv("PATH", "") // without git nobody knows what it is short for
	s.expect("r", "r", "main", sha, "")
}

func TestIncludesAreFollowed(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	s.git("r", "remote", "remove", "origin")
	s.write("r/.git/more", "[remote \"origin\"]\n\turl = "+remote+"\n")
	s.git("r", "config", "include.path", "more")
	s.expect("r", "r", "main", sha, remote)
	s.git("r", "config", "--unset", "include.path")
	s.git("r", "config", "includeIf.gitdir:"+filepath.ToSlash(s.dir)+"/**.path", "more")
	s.expect("r", "r", "main", sha, remote)
}

func TestTheRemoteThatNamesTheRepository(t *testing.T) {
	const other = "https://github.com/fork/repo.git"
	s := newSandbox(t)
	sha := s.repo("r")
	s.git("r", "remote", "add", "fork", other)
	s.git("r", "remote", "set-url", "--add", "origin", "https://mirror.test/repo.git")
	s.expect("r", "r", "main", sha, remote) // origin, and the first of its URLs
	s.git("r", "remote", "rename", "origin", "upstream")
	s.expect("r", "r", "main", sha, "") // two, and none stands out
	s.git("r", "config", "branch.main.remote", "fork")
	s.expect("r", "r", "main", sha, other) // the branch's
	s.git("r", "remote", "remove", "fork")
	s.expect("r", "r", "main", sha, remote) // the only one
	s.git("r", "config", "--replace-all", "remote.upstream.url", s.path("lib"))
	s.expect("r", "r", "main", sha, "") // a local path
}

func TestABrokenConfigurationLeavesHEAD(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	s.appendTo("r/.git/config", "[broken\n")
	s.refusedByLibrary("r")
	s.expect("r", "r", "main", sha, "")
}

func TestCoreWorktreeIsHonoured(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	s.write("elsewhere/x", "")
	s.git("r", "config", "core.worktree", s.path("elsewhere"))
	s.expect("r", "elsewhere", "main", sha, remote)
}

func TestHEADAsASymbolicLink(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	if err := os.Remove(s.path("r/.git/HEAD")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("refs/heads/main", s.path("r/.git/HEAD")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	s.expect("r", "r", "main", sha, remote)
}

func TestAFolderThatIsGoneBelongsToItsParent(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	s.expect("r/gone/deeper", "r", "main", sha, remote)
}

func TestAClonePointingAtBorrowedObjects(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	s.git(".", "clone", "-q", "--shared", "r", "c")
	s.git("c", "remote", "set-url", "origin", remote)
	s.expect("c", "c", "main", sha, remote)
}

func TestACancelledLookupSaysSoAndStillKnowsTheFiles(t *testing.T) {
	s := newSandbox(t)
	sha := s.repo("r")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got, err := Lookup(ctx, s.path("r"))
	if !errors.Is(err, context.Canceled) || got.SHA != sha {
		t.Errorf("got %+v, %v", got, err)
	}
}
