// Package gitinfo tells which repository a folder belongs to and where it stands:
// branch, full commit hash, remote without credentials, provider and name.
//
// [Lookup] asks go-git first, the git program where go-git refuses or cannot
// know, and in the end the files themselves. What none of them can tell for sure
// is empty: absent beats wrong. It reads references and configuration only, never
// objects or the state of the worktree, so it is fast on any repository and does
// not lock or refresh anything.
package gitinfo
