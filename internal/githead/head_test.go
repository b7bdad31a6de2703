package githead

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	sha1a = "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c"
	sha1b = "1111111111111111111111111111111111111111"
)

// write lays a file below dir.
func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// folder is a temporary folder by its physical name.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// repo lays a git directory by hand.
func repo(t *testing.T, head string) (root string) {
	t.Helper()
	root = folder(t)
	write(t, root, ".git/HEAD", head)
	write(t, root, ".git/refs/heads/.keep", "")
	return root
}

func expect(t *testing.T, dir, root, branch, sha string) {
	t.Helper()
	got := Read(dir)
	if got.Root != root || got.Branch != branch || got.SHA != sha {
		t.Errorf("Read(%s)\n got %q %q %q\nwant %q %q %q", dir, got.Root, got.Branch, got.SHA, root, branch, sha)
	}
}

func TestReadFindsTheBranchFromAFolderWithin(t *testing.T) {
	root := repo(t, "ref: refs/heads/feature/x\n")
	write(t, root, ".git/refs/heads/feature/x", sha1a+"\n")
	write(t, root, "a/b/c.txt", "")
	expect(t, root, root, "feature/x", sha1a)
	expect(t, filepath.Join(root, "a", "b"), root, "feature/x", sha1a)
	expect(t, filepath.Join(root, "a", "gone", "deeper"), root, "feature/x", sha1a)
	expect(t, filepath.Join(root, ".git", "refs"), root, "feature/x", sha1a)
}

func TestReadFollowsASymbolicLinkToTheFolder(t *testing.T) {
	root := repo(t, "ref: refs/heads/main\n")
	write(t, root, ".git/refs/heads/main", sha1a)
	write(t, root, "sub/x", "")
	link := filepath.Join(folder(t), "link")
	if err := os.Symlink(filepath.Join(root, "sub"), link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	expect(t, link, root, "main", sha1a)
}

func TestReadKnowsEveryFormOfHEAD(t *testing.T) {
	root := repo(t, "ref: refs/heads/new\n")
	expect(t, root, root, "new", "") // no commit yet
	root = repo(t, sha1a+"\n")
	expect(t, root, root, "", sha1a) // detached
	sha256 := strings.Repeat("ab", 32)
	root = repo(t, sha256+"\n")
	expect(t, root, root, "", sha256)
	root = repo(t, "ref: refs/heads/.invalid\n")
	expect(t, root, root, "", "") // reftable
	root = repo(t, "ref: refs/heads/alias\n")
	write(t, root, ".git/refs/heads/alias", "ref: refs/heads/main\n")
	write(t, root, ".git/refs/heads/main", sha1a+"\n")
	expect(t, root, root, "alias", sha1a)
	root = repo(t, "ref: refs/heads/loop\n")
	write(t, root, ".git/refs/heads/loop", "ref: refs/heads/loop\n")
	expect(t, root, root, "loop", "")
	root = repo(t, "ref: refs/bisect/x\n")
	write(t, root, ".git/refs/bisect/x", sha1a)
	expect(t, root, root, "", sha1a)
}

func TestReadTakesHEADAsASymbolicLink(t *testing.T) {
	root := repo(t, "")
	write(t, root, ".git/refs/heads/main", sha1a)
	head := filepath.Join(root, ".git", "HEAD")
	if err := os.Remove(head); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("refs/heads/main", head); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	expect(t, root, root, "main", sha1a)
}

func TestReadNamesTheBranchOfARebaseInProgress(t *testing.T) {
	for _, state := range []string{"rebase-merge", "rebase-apply"} {
		root := repo(t, sha1a+"\n")
		write(t, root, ".git/"+state+"/head-name", "refs/heads/topic\n")
		expect(t, root, root, "topic", sha1a)
		write(t, root, ".git/"+state+"/head-name", "detached HEAD\n")
		expect(t, root, root, "", sha1a)
	}
}

func TestReadFollowsAGitFile(t *testing.T) {
	base := folder(t)
	write(t, base, "store/HEAD", "ref: refs/heads/main\n")
	write(t, base, "store/refs/heads/main", sha1a)
	write(t, base, "work/.git", "gitdir: ../store\n")
	expect(t, filepath.Join(base, "work"), filepath.Join(base, "work"), "main", sha1a)
	write(t, base, "work/.git", "gitdir: "+filepath.Join(base, "store")+"\n")
	expect(t, filepath.Join(base, "work"), filepath.Join(base, "work"), "main", sha1a)
	// A worktree shares the branches of the main repository.
	write(t, base, "store/worktrees/w/HEAD", "ref: refs/heads/side\n")
	write(t, base, "store/worktrees/w/commondir", "../..\n")
	write(t, base, "store/refs/heads/side", sha1b)
	write(t, base, "w/.git", "gitdir: ../store/worktrees/w\n")
	expect(t, filepath.Join(base, "w"), filepath.Join(base, "w"), "side", sha1b)
	// One that leads nowhere is no reason to answer for the repository around it.
	outer := repo(t, "ref: refs/heads/main\n")
	write(t, outer, "sub/.git", "gitdir: ../nowhere\n")
	expect(t, filepath.Join(outer, "sub"), "", "", "")
}

func TestReadIsEmptyWhereThereIsNoWorktree(t *testing.T) {
	expect(t, folder(t), "", "", "")
	bare := folder(t)
	write(t, bare, "HEAD", "ref: refs/heads/main\n")
	write(t, bare, "refs/heads/main", sha1a)
	expect(t, bare, "", "", "")
	// git walks past an empty .git folder.
	root := repo(t, "ref: refs/heads/main\n")
	if err := os.MkdirAll(filepath.Join(root, "sub", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	expect(t, filepath.Join(root, "sub"), root, "main", "")
}

func TestReadIgnoresTheEnvironment(t *testing.T) {
	other := repo(t, "ref: refs/heads/other\n")
	root := repo(t, "ref: refs/heads/main\n")
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_WORK_TREE", other)
	expect(t, root, root, "main", "")
}

func TestAHostileHEADDoesNotLeadOutOfTheRepository(t *testing.T) {
	base := folder(t)
	write(t, base, "secret", sha1a)
	for _, name := range []string{"refs/../../secret", "../secret", "/etc/passwd", "refs/heads/../../../secret", "refs/heads/a\x01b", "refs//x"} {
		write(t, base, ".git/HEAD", "ref: "+name+"\n")
		write(t, base, ".git/refs/x", "")
		expect(t, base, base, "", "")
	}
	write(t, base, ".git/HEAD", strings.Repeat("x", 1<<20))
	expect(t, base, base, "", "")
}

func TestAPackedBranchIsFoundAmongThousands(t *testing.T) {
	for _, header := range []string{"# pack-refs with: peeled fully-peeled sorted \n", "# pack-refs with: peeled \n", ""} {
		root := repo(t, "ref: refs/heads/b00000\n")
		var b strings.Builder
		b.WriteString(header)
		name := func(i int) string { return fmt.Sprintf("refs/heads/b%05d", i) }
		const n = 3000
		for i := range n {
			fmt.Fprintf(&b, "%040x %s\n", i+1, name(i))
			if i%3 == 0 {
				fmt.Fprintf(&b, "^%s\n", sha1b)
			}
		}
		write(t, root, ".git/packed-refs", b.String())
		path := filepath.Join(root, ".git", "packed-refs")
		step := 7
		if !strings.Contains(header, "sorted") {
			step = 97
		}
		for i := 0; i < n; i += step {
			if got, want := packed(path, name(i)), fmt.Sprintf("%040x", i+1); got != want {
				t.Fatalf("header %q: %s is %q, not %s", header, name(i), got, want)
			}
		}
		for _, missing := range []string{"refs/heads/a", "refs/heads/b00000x", "refs/heads/b01500x", "refs/heads/z"} {
			if got := packed(path, missing); got != "" {
				t.Errorf("%s is %q", missing, got)
			}
		}
		expect(t, root, root, "b00000", fmt.Sprintf("%040x", 1))
		write(t, root, ".git/refs/heads/b00000", sha1b) // a loose reference is newer
		expect(t, root, root, "b00000", sha1b)
	}
}

func TestADamagedPackedRefsFileIsNoAnswer(t *testing.T) {
	for _, content := range []string{"", "\n", "x", "# pack-refs with: sorted \n", "# pack-refs with: sorted \n^" + sha1a + "\n",
		"# pack-refs with: sorted \n" + strings.Repeat("y", 100_000), strings.Repeat("\n", 10_000), sha1a + " refs/heads/main"} {
		root := repo(t, "ref: refs/heads/main\n")
		write(t, root, ".git/packed-refs", content)
		want := ""
		if strings.HasPrefix(content, sha1a) {
			want = sha1a
		}
		expect(t, root, root, "main", want)
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("# pack-refs with: peeled fully-peeled sorted \n"+sha1a+" refs/heads/main\n^"+sha1b+"\n", "refs/heads/main")
	f.Add("^\n\n^ \n", "")
	f.Fuzz(func(t *testing.T, content, name string) {
		r := strings.NewReader(content)
		if got := search(r, 0, r.Size(), name); got != "" && !isHash(got) {
			t.Errorf("found %q", got)
		}
	})
}

func TestReadAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("GIT IS NOT INSTALLED: this test compares with it")
	}
	root := folder(t)
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.test", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.test")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q", "-b", "main")
	expect(t, root, root, "main", "")
	run("commit", "-q", "--allow-empty", "-m", "one")
	expect(t, root, root, "main", run("rev-parse", "HEAD"))
	run("tag", "-a", "-m", "v1", "v1")
	run("pack-refs", "--all")
	expect(t, root, root, "main", run("rev-parse", "HEAD"))
	run("checkout", "-q", "--detach")
	expect(t, root, root, "", run("rev-parse", "HEAD"))
}

func BenchmarkRead(b *testing.B) {
	dir, err := os.Getwd()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Read(dir)
	}
}
