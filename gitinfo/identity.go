package gitinfo

import (
	"context"

	"github.com/tracesmith/tracesmith/runtypes"
)

// DetectIdentity returns an identity that holds the folder and the state of its
// repository, for a turn that begins now: call it once a turn and fill in who the
// agent is and which conversation it is. What cannot be known is empty. Empty dir
// is the current folder. It may read Git's files and ask the git program, within
// the bounds of [Lookup].
func DetectIdentity(ctx context.Context, dir string) runtypes.Identity {
	info, _ := Lookup(ctx, dir) // what was found stands, whatever the error
	return runtypes.Identity{Repo: info.Repo(), WorkingDirectory: info.WorkingDirectory}
}
