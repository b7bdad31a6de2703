package config

import (
	"errors"
	"fmt"
	"strings"
)

// Key is where an API key comes from: one of its members, or none.
type Key struct {
	Text    string // the key itself
	Command string // what prints it
	Keyring string // the name of its entry in the system's keyring
}

// String is a key as it may be shown.
func (k Key) String() string {
	switch {
	case k.Command != "":
		return "(what a command prints)"
	case k.Keyring != "":
		return fmt.Sprintf("(%s in the keyring)", k.Keyring)
	}
	return MaskKey(k.Text)
}

// several reports whether more than one source is named.
func (k Key) several() bool {
	return k.Text != "" && k.Command+k.Keyring != "" || k.Command != "" && k.Keyring != ""
}

// parts tell a key from another in a hash.
func (k Key) parts() []string {
	switch {
	case k.Command != "":
		return []string{"command", k.Command}
	case k.Keyring != "":
		return []string{"keyring", k.Keyring}
	}
	return []string{k.Text}
}

// Key is where the key of the settings comes from.
func (c Config) Key() Key { return Key{c.APIKey, c.KeyCommand, c.KeyKeyring} }

// Key is where the replica's own key comes from.
func (r Replica) Key() Key { return Key{r.APIKey, r.KeyCommand, r.KeyKeyring} }

// keySources are the settings that name a key.
func keySources() []string {
	return []string{"api_key", "api_key_file", "api_key_command", "api_key_keyring"}
}

// setKey puts a key in the place of any that a weaker layer named.
func (c *Config) setKey(k Key) error {
	var checked Key
	if err := errors.Join(setText(&checked.Text, k.Text), setText(&checked.Command, k.Command), setText(&checked.Keyring, k.Keyring)); err != nil {
		return err
	}
	c.APIKey, c.KeyCommand, c.KeyKeyring, c.Login = checked.Text, checked.Command, checked.Keyring, false
	return nil
}

// readKey takes the API key from a file.
func (c *Config) readKey(path string) error {
	text, err := c.keyIn(path)
	if err != nil {
		return err
	}
	return c.setKey(Key{Text: text})
}

// keyIn reads the file of a key.
func (c *Config) keyIn(path string) (string, error) {
	path, err := c.absolute(path)
	if err != nil {
		return "", err
	}
	text, err := readFile(path, 4*maxText)
	if err != nil {
		return "", errors.New("the key's file cannot be read")
	}
	key := strings.TrimSpace(string(text))
	if key == "" {
		return "", errors.New("the key's file is empty")
	}
	return key, nil
}

// keyCommand notes the command that prints the API key. Only the user's own file and the
// policy may say so: it is run.
func (l *loader) keyCommand(value any, path string) {
	text, ok := value.(string)
	if !ok || clean(text) == "" || l.cfg.setKey(Key{Command: text}) != nil {
		l.errs = append(l.errs, fmt.Errorf("config: %s: api_key_command: want a command line", path))
		return
	}
	l.cfg.source("api_key", path)
}
