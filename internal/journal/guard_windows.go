package journal

import "io/fs"

// noFollow has no equivalent: making a link needs a privilege on Windows.
const noFollow = 0

// guard has nothing to add: a user's LocalAppData is closed to others.
func guard(string, fs.FileInfo) error { return nil }
