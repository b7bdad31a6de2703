package relay

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// indexName is the index's file in the relay's folder.
const indexName = "turns.jsonl"

// Told is the address and the key that Variables has put into a file of variables; empty:
// it has not.
func Told(variables []byte) (url, token string) {
	_, block, _ := bytes.Cut(variables, []byte(blockStart+"\n"))
	block, _, ended := bytes.Cut(block, []byte(blockEnd+"\n"))
	if !ended {
		return "", ""
	}
	for line := range strings.Lines(string(block)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch name {
		case "LANGSMITH_ENDPOINT":
			url = value
		case "DEEPAGENTS_CODE_LANGSMITH_API_KEY":
			token = value
		}
	}
	return url, token
}

// listenFlag finds the address in a unit's command or a launchd agent's arguments.
var listenFlag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^ExecStart=.* relay --listen (\S+)$|<string>relay</string>\s*<string>--listen</string>\s*<string>([^<]+)</string>`)
})

// ServiceAddress is the address that UserService's file has the relay listen on; empty: the
// file is another one.
func ServiceAddress(file []byte) string {
	found := listenFlag().FindSubmatch(file)
	if !ownFile(file) || found == nil {
		return ""
	}
	return string(found[1]) + string(found[2])
}

// Running reports whether the relay of a state's directory is at work. Those who look
// share the lock, so that none takes another for the relay.
func Running(state string) bool {
	path := LockPath(state)
	if _, err := os.Stat(path); err != nil {
		return false
	}
	lock := flock.New(path)
	free, err := lock.TryRLock()
	if err != nil {
		return false
	}
	return !free || lock.Close() != nil
}

// LastTurn is when a relay of a state's directory took up the newest turn; zero: never.
func LastTurn(state string) time.Time {
	info, err := os.Stat(filepath.Join(Dir(state), indexName))
	if err != nil || info.Size() == 0 {
		return time.Time{}
	}
	return info.ModTime()
}
