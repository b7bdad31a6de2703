// Command tracesmith records what coding agents do and delivers it to LangSmith.
package main

import (
	"os"

	"github.com/tracesmith/tracesmith/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Environ, os.Stdin, os.Stdout, os.Stderr))
}
