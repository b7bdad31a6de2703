package config

import (
	"errors"
	"path/filepath"
	"strings"
)

// installedFile holds what install found in its environment and a drainer that an agent
// starts may miss; empty if there is no home. The user's file beats it.
func installedFile(env func(string) string) string {
	if path := UserFile(env); path != "" {
		return filepath.Join(filepath.Dir(path), installedName)
	}
	return ""
}

const installedName = "installed.toml"

// network lists the settings of how LangSmith is reached. They are the user's and the
// policy's alone.
func network() []field {
	return []field{
		{
			key: "api_key_file", env: []variable{{name: "TRACESMITH_API_KEY_FILE"}},
			set: (*Config).readKey, text: func(*Config) string { return "" }, quiet: true,
		},
		{
			key: "api_key_keyring", env: []variable{{name: "TRACESMITH_API_KEY_KEYRING"}},
			set: func(c *Config, s string) error { return c.setKey(Key{Keyring: s}) }, text: func(*Config) string { return "" }, quiet: true,
		},
		{
			key: "proxy", env: []variable{{name: "TRACESMITH_PROXY"}},
			set: func(c *Config, s string) error { return setText(&c.Proxy, s) }, text: func(c *Config) string { return WithoutPassword(c.Proxy) },
		},
		word("no_proxy", []variable{{name: "TRACESMITH_NO_PROXY"}}, func(c *Config) *string { return &c.NoProxy }),
		file("ca_file", "TRACESMITH_CA_FILE", func(c *Config) *string { return &c.CAFile }),
		file("client_cert", "TRACESMITH_CLIENT_CERT", func(c *Config) *string { return &c.ClientCert }),
		file("client_key", "TRACESMITH_CLIENT_KEY", func(c *Config) *string { return &c.ClientKey }),
		boolean("allow_http", []variable{{name: "TRACESMITH_ALLOW_HTTP"}}, func(c *Config) *bool { return &c.AllowHTTP }),
	}
}

// file is a setting that names a file.
func file(key, variableName string, at func(*Config) *string) field {
	return field{
		key: key, env: []variable{{name: variableName}},
		set: func(c *Config, s string) (err error) {
			if s != "" { // else a policy wants none
				s, err = c.absolute(s)
			}
			if err == nil {
				err = setText(at(c), s)
			}
			return err
		},
		text: func(c *Config) string { return *at(c) },
	}
}

// absolute is a path that does not depend on where the agent works.
func (c *Config) absolute(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && c.home != "" {
		path = filepath.Join(c.home, rest)
	}
	if !filepath.IsAbs(path) {
		return "", errors.New("want an absolute path")
	}
	return path, nil
}

// WithoutPassword is the address of a proxy as it may be shown: what stands before an @
// may be a password, also where the address is no URL.
func WithoutPassword(address string) string {
	at := strings.LastIndex(address, "@")
	if at < 0 {
		return address
	}
	scheme := ""
	if n := strings.Index(address[:at], "://"); n >= 0 {
		scheme = address[:n+len("://")]
	}
	return scheme + "xxxxx" + address[at:]
}
