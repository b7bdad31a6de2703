package config

import (
	"cmp"
	"errors"
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
	not := cmp.Or(env("NO_PROXY"), env("no_proxy"))
	if setText(new(string), not) != nil {
		not = ""
	}
	return proxy, remember(env, map[string]string{"proxy": proxy, "no_proxy": not})
}

// RememberKeyring notes, beside the user's file, the entry of the keyring that holds the
// API key; empty: none does any more.
func RememberKeyring(env func(string) string, entry string) error {
	if err := setText(new(string), entry); err != nil {
		return fmt.Errorf("config: the entry's name %w", err)
	}
	return remember(env, map[string]string{"api_key_keyring": entry})
}

// remember changes what is noted beside the user's file. What is empty is taken out.
func remember(env func(string) string, changes map[string]string) error {
	path := installedFile(env)
	if path == "" {
		return errors.New("config: no home directory: set HOME")
	}
	noted, err := decodeFile(path)
	if err != nil {
		return err
	}
	if noted == nil {
		noted = map[string]any{}
	}
	for key, text := range changes {
		noted[key] = text
		if text == "" {
			delete(noted, key)
		}
	}
	text, err := toml.Marshal(noted)
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return atomicfile.Write(path, append([]byte("# Written by tracesmith. What config.toml says counts more.\n"), text...))
}

// ProxyRemembered reports whether the proxy is one that install found: an environment
// that has its own knows better.
func (c Config) ProxyRemembered() bool {
	return filepath.Base(c.Source("proxy")) == installedName
}
