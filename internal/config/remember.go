package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
)

// RememberProxy stores the proxy of an environment beside the user's file, for drainers
// that an agent starts without it, as one does that was not started from a shell. It
// returns what it stored; nothing where the environment has none, where the user's file
// names one, or where the address holds a password, which is the user's to store.
func RememberProxy(env func(string) string) (proxy string, err error) {
	proxy = cmp.Or(env("HTTPS_PROXY"), env("https_proxy"), env("ALL_PROXY"), env("all_proxy"))
	path := installedFile(env)
	if proxy == "" || path == "" || strings.Contains(proxy, "@") || setText(new(string), proxy) != nil {
		return "", nil
	}
	settings, err := Load(Options{Env: env})
	if from := settings.Source("proxy"); err != nil || from != SourceDefault && from != path {
		return "", err
	}
	stored := map[string]string{"proxy": proxy}
	if not := cmp.Or(env("NO_PROXY"), env("no_proxy")); not != "" && setText(new(string), not) == nil {
		stored["no_proxy"] = not
	}
	text, err := toml.Marshal(stored)
	if err != nil {
		return "", fmt.Errorf("config: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("config: %w", err)
	}
	return proxy, atomicfile.Write(path, append([]byte("# Written by tracesmith install: the proxy of its environment.\n"), text...))
}

// ProxyRemembered reports whether the proxy is one that install found: an environment
// that has its own knows better.
func (c Config) ProxyRemembered() bool {
	return filepath.Base(c.Source("proxy")) == installedName
}
