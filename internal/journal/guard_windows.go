package journal

import "io/fs"

// noFollow has no equivalent: making a link needs a privilege on Windows.
const noFollow = 0

// locksBlockRename says whether a directory with an open lock keeps its name.
const locksBlockRename = true

// guard has nothing to add: a user's LocalAppData is closed to others.
func guard(string, fs.FileInfo) error { return nil }
