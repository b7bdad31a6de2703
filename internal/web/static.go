package web

import "embed"

// static is the page: HTML, style sheets and modules, as they are.
//
//go:embed static
var static embed.FS
