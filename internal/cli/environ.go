package cli

import (
	"os"
	"os/user"
	"runtime"
)

// Environ returns a variable of this process. Agents that a service starts without HOME
// find their user's folder in the system's list of users, and so does this.
func Environ(name string) string {
	value := os.Getenv(name)
	if value != "" || name != "HOME" || runtime.GOOS == "windows" {
		return value
	}
	if me, err := user.Current(); err == nil {
		return me.HomeDir
	}
	return ""
}
