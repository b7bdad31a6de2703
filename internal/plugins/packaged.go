package plugins

import (
	"encoding/json"
	"errors"
	"path"
	"strings"

	"github.com/tracesmith/tracesmith/integrations/opencode"
	"github.com/tracesmith/tracesmith/integrations/pi"
)

// openCodePackage makes a package that `opencode plugin` installs.
func openCodePackage(f files) error {
	about := npmPackage("tracesmith-opencode", "opencode-plugin")
	about["type"] = "module"
	about["main"], about["exports"] = "./tracesmith.js", object{"./server": "./tracesmith.js", ".": "./tracesmith.js"}
	return firstError(
		f.put(path.Join(folder(opencode.Name), "package.json"), about),
		f.putShim(opencode.Name),
	)
}

// piPackage makes a package that `pi install` takes, from here or from a registry.
func piPackage(f files) error {
	about := npmPackage("tracesmith-pi", "pi-package")
	about["pi"] = object{"extensions": []string{"./tracesmith.js"}}
	return firstError(
		f.put(path.Join(folder(pi.Name), "package.json"), about),
		f.putShim(pi.Name),
	)
}

// npmPackage describes a package with the shim in it.
func npmPackage(name, keyword string) object {
	return object{
		"name": name, "version": number(), "description": description,
		"homepage": homepage, "license": licence,
		"repository": object{"type": "git", "url": "git+" + homepage + ".git"},
		"keywords":   []string{keyword, "langsmith", "tracing"},
		"files":      []string{"tracesmith.js"},
	}
}

// putShim adds the shim that install writes, for a program on the search path: where
// there is none it does nothing.
func (f files) putShim(agent string) error {
	command, err := json.Marshal([]string{"tracesmith", "hook", agent, "--stream"})
	if err != nil {
		return err
	}
	text, err := table(agent, string(command))
	if err != nil {
		return err
	}
	_, rest, found := strings.Cut(string(text), "\n")
	if !found {
		return errors.New("plugins: the shim has one line")
	}
	// Its first line tells what uninstall may remove, which this is not.
	f[path.Join(folder(agent), "tracesmith.js")] = []byte("// Made from the shim of `tracesmith install " + agent + "`: change that one.\n" + rest)
	return nil
}
