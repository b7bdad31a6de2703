package githead

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	// maxDepth bounds the walk up to the root of the file system.
	maxDepth = 256
	// maxFile bounds the small files of a git directory: HEAD, commondir, a
	// reference, a .git file.
	maxFile = 8 << 10
)

// find walks up from dir to the first folder with a git directory.
func find(dir string) Head {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Head{}
	}
	// git walks up from the physical folder. One that is gone has only its name.
	if physical, err := filepath.EvalSymlinks(dir); err == nil {
		dir = physical
	}
	for range maxDepth {
		gitDir, stop := gitDirOf(dir)
		if gitDir != "" {
			return Head{Root: dir, Dir: gitDir, Common: commonDir(gitDir)}
		}
		parent := filepath.Dir(dir)
		if stop || parent == dir {
			return Head{}
		}
		dir = parent
	}
	return Head{}
}

// gitDirOf returns the git directory that belongs to dir, if there is one. stop
// says not to look further up: dir is a repository's own, but holds no worktree.
func gitDirOf(dir string) (gitDir string, stop bool) {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", filepath.Base(dir) != ".git" && isGitDir(dir) // a bare repository
	case info.IsDir():
		if isGitDir(path) {
			return path, false
		}
		return "", false // git, too, walks on past an empty .git folder
	}
	line, ok := readLine(path)
	if !ok {
		return "", true
	}
	target, ok := strings.CutPrefix(line, "gitdir:")
	if !ok {
		return "", true
	}
	target = against(dir, strings.TrimSpace(target))
	if !isGitDir(target) {
		return "", true
	}
	return target, false
}

// isGitDir reports whether dir looks like a git directory: it has a HEAD, and
// references or a pointer to them.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	for _, name := range []string{"refs", "commondir"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// commonDir is the main repository's git directory, which a linked worktree
// shares; for any other repository it is gitDir itself.
func commonDir(gitDir string) string {
	line, ok := readLine(filepath.Join(gitDir, "commondir"))
	if !ok || line == "" {
		return gitDir
	}
	return against(gitDir, line)
}

// against resolves path, which may be relative, from dir.
func against(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// readLine returns a small file without its trailing line ends. Anything but a
// regular file is refused: opening a pipe would wait for a writer.
func readLine(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	file, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil || len(data) > maxFile {
		return "", false
	}
	return strings.TrimRight(string(data), "\r\n"), true
}
