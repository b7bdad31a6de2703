package plugins

import "fmt"

// inSh calls the program from sh, silently and with exit code 0 also where there is
// none. An agent that was started from a desktop has a short search path, so that the
// folders where installers put programs are added to it.
func inSh(agent string) string {
	return fmt.Sprintf(`PATH="$PATH:$HOME/.local/bin:/opt/homebrew/bin:/usr/local/bin"; command -v tracesmith >/dev/null 2>&1 && tracesmith hook %s; exit 0`, agent)
}

// inCmd does the same from cmd.
func inCmd(agent string) string {
	return fmt.Sprintf(`where /q tracesmith && tracesmith hook %s & exit /b 0`, agent)
}

// inPowerShell does the same from PowerShell.
func inPowerShell(agent string) string {
	return fmt.Sprintf(`if (Get-Command tracesmith -ErrorAction SilentlyContinue) { tracesmith hook %s }; exit 0`, agent)
}
