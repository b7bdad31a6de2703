package relay

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// The lines that enclose what install adds to a file of variables.
const (
	blockStart = "# >>> tracesmith relay >>>"
	blockEnd   = "# <<< tracesmith relay <<<"
)

// serviceMark begins what install writes as a file of its own.
const serviceMark = "Written by tracesmith install " + Integration + " --relay"

// Service is the name of the user service.
const Service = "tracesmith-relay"

// ErrForeign says that a file is somebody else's.
var ErrForeign = errors.New("is not Tracesmith's: move it away or rename it first")

// Variables is what has Deep Agents Code send its traces to the relay: its own file of
// variables. It is an agent to package setup, which changes files and takes the changes
// back.
func Variables(url, token string) *integrations.Agent {
	block := blockStart + "\n" +
		"DEEPAGENTS_CODE_LANGSMITH_TRACING=true\n" +
		"LANGSMITH_ENDPOINT=" + url + "\n" +
		"DEEPAGENTS_CODE_LANGSMITH_API_KEY=" + token + "\n" +
		blockEnd + "\n"
	return &integrations.Agent{Name: Integration, Runtime: runtimeName, Setup: integrations.Setup{
		Path: func(home string, _ bool, env func(string) string) string {
			if dir := env("DEEPAGENTS_HOME"); filepath.IsAbs(dir) {
				return filepath.Join(dir, ".env")
			}
			return filepath.Join(home, ".deepagents", ".env")
		},
		Add: func(text []byte, _ []integrations.Hook, _ string) ([]byte, error) {
			if bytes.Contains(text, []byte(block)) {
				return text, nil
			}
			text, err := withoutBlock(text)
			if err != nil {
				return nil, err
			}
			if len(text) > 0 && text[len(text)-1] != '\n' {
				text = append(bytes.Clone(text), '\n')
			}
			return append(bytes.Clone(text), block...), nil
		},
		Remove: func(text []byte, _ func(string) bool) ([]byte, error) { return withoutBlock(text) },
	}}
}

func withoutBlock(text []byte) ([]byte, error) {
	before, rest, found := bytes.Cut(text, []byte(blockStart+"\n"))
	if !found {
		return text, nil
	}
	_, after, ended := bytes.Cut(rest, []byte(blockEnd+"\n"))
	if !ended {
		return nil, errors.New("the end of tracesmith's part is missing: take it out by hand")
	}
	return append(bytes.Clone(before), after...), nil
}

// UserService is the relay as a service of its user: a unit of systemd, or a launchd
// agent on darwin; nil where a system has neither. state is the folder that holds the
// state where it is not the default, listen the address.
func UserService(system, state, listen string) *integrations.Agent {
	var path func(home string, env func(string) string) string
	var render func(program, state, listen string) string
	switch system {
	case "linux":
		path, render = unitPath, unit
	case "darwin":
		path, render = plistPath, plist
	default:
		return nil
	}
	return &integrations.Agent{Name: Integration, Runtime: runtimeName, Setup: integrations.Setup{
		Whole: true,
		Shell: func(string) integrations.Shell { return integrations.Argv },
		Path:  func(home string, _ bool, env func(string) string) string { return path(home, env) },
		Add: func(text []byte, _ []integrations.Hook, argv string) ([]byte, error) {
			var command []string
			if err := json.Unmarshal([]byte(argv), &command); err != nil || len(command) == 0 {
				return nil, errors.New("relay: the program has no path")
			}
			if len(bytes.TrimSpace(text)) > 0 && !ownFile(text) {
				return nil, ErrForeign
			}
			return []byte(render(command[0], state, listen)), nil
		},
		Remove: removeOwn,
	}}
}

// HookStart is the file that has a hook start the relay, on the address it names.
func HookStart(state, listen string) *integrations.Agent {
	return &integrations.Agent{Name: Integration, Runtime: runtimeName, Setup: integrations.Setup{
		Whole: true,
		Path:  func(string, bool, func(string) string) string { return HookStartPath(state) },
		Add: func([]byte, []integrations.Hook, string) ([]byte, error) {
			return []byte("# " + serviceMark + ": the agent's hooks start the relay.\n" + listen + "\n"), nil
		},
		Remove: removeOwn,
	}}
}

// HookStartPath is where HookStart's file is, below the state's directory.
func HookStartPath(state string) string { return filepath.Join(Dir(state), "start-by-hook") }

// maxHookStart bounds what is read of HookStart's file.
const maxHookStart = 4 << 10

// HookStartAddress is the address that HookStart's file names; empty: the file is not
// there, or not one that says so.
func HookStartAddress(state string) string {
	file, err := regular.OpenHere(HookStartPath(state)) // a hook asks, and waits for nobody
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxHookStart))
	if err != nil || !ownFile(text) {
		return ""
	}
	_, listen, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return listen
}

func ownFile(text []byte) bool { return bytes.Contains(text, []byte(serviceMark)) }

func removeOwn(text []byte, _ func(string) bool) ([]byte, error) {
	if ownFile(text) {
		return nil, nil
	}
	return text, nil
}

func unitPath(home string, env func(string) string) string {
	base := env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "systemd", "user", Service+".service")
}

// unit is a unit of systemd. Its user's manager gives it no shell's variables.
func unit(program, state, listen string) string {
	quote := func(s string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`).Replace(s) + `"`
	}
	variable := ""
	if state != "" {
		variable = "Environment=" + strings.ReplaceAll(quote("TRACESMITH_STATE="+state), "$$", "$") + "\n"
	}
	return "# " + serviceMark + ".\n" +
		"[Unit]\nDescription=Tracesmith relay for Deep Agents Code\n\n" +
		"[Service]\n" + variable + "ExecStart=" + quote(program) + " relay --listen " + listen + "\nRestart=on-failure\nRestartSec=5\n\n" +
		"[Install]\nWantedBy=default.target\n"
}

// Label is what launchd calls the service.
const Label = "com.github.tracesmith.relay"

func plistPath(home string, _ func(string) string) string {
	return filepath.Join(home, "Library", "LaunchAgents", Label+".plist")
}

func plist(program, state, listen string) string {
	escape := func(s string) string {
		var out bytes.Buffer
		_ = xml.EscapeText(&out, []byte(s)) // a buffer takes all
		return out.String()
	}
	variables := ""
	if state != "" {
		variables = "\t<key>EnvironmentVariables</key>\n\t<dict>\n\t\t<key>TRACESMITH_STATE</key>\n\t\t<string>" + escape(state) + "</string>\n\t</dict>\n"
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + Label + `</string>
	<key>ProgramArguments</key>
	<array>
		<string>` + escape(program) + `</string>
		<string>relay</string>
		<string>--listen</string>
		<string>` + escape(listen) + `</string>
	</array>
` + variables + `	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>Comment</key>
	<string>` + escape(serviceMark) + `</string>
</dict>
</plist>
`
}
