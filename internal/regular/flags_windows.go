package regular

// Windows keeps its pipes in a place of their own.
const (
	nonBlock = 0
	noFollow = 0
)
