package config

import (
	"errors"
	"fmt"
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
		word("proxy", []variable{{name: "TRACESMITH_PROXY"}}, func(c *Config) *string { return &c.Proxy }),
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
			s, err = c.absolute(s)
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

// readKey takes the API key from a file.
func (c *Config) readKey(path string) error {
	path, err := c.absolute(path)
	if err != nil {
		return err
	}
	text, err := readFile(path, 4*maxText)
	if err != nil {
		return errors.New("the key's file cannot be read")
	}
	key := strings.TrimSpace(string(text))
	if key == "" {
		return errors.New("the key's file is empty")
	}
	c.Login, c.KeyCommand = false, ""
	return setText(&c.APIKey, key)
}

// keyCommand notes the command that prints the API key. Only the user's own file and the
// policy may say so: it is run.
func (l *loader) keyCommand(value any, path string) {
	text, ok := value.(string)
	if err := setText(&l.cfg.KeyCommand, text); !ok || err != nil {
		l.errs = append(l.errs, fmt.Errorf("config: %s: api_key_command: want a command line", path))
		return
	}
	l.cfg.APIKey, l.cfg.Login = "", false
	l.cfg.source("api_key", path)
}
