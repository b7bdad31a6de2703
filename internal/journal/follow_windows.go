package journal

// noFollow has no equivalent: making a link needs a privilege on Windows.
const noFollow = 0

// locksBlockRename says whether a directory with an open lock keeps its name.
const locksBlockRename = true
