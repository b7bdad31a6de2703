package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/keyring"
)

// keyEntry is the entry of the keyring that is meant where none is named.
const keyEntry = "langsmith"

// maxKey bounds a key that is read.
const maxKey = 4 << 10

// configKeyCommand keeps the API key in the system's keyring.
func configKeyCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Keep the API key in the system's keyring",
		Args:  argCount(0, 0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "set [ENTRY]",
		Short: "Store a key, read from standard input, and use it from now on",
		Long: `Read an API key, from the terminal or the first line of standard input, and store it in
the system's keyring: the Keychain of macOS, the Credential Manager of Windows, or the
Secret Service (GNOME Keyring, KWallet, KeePassXC). Drainers and commands read it there;
hooks never do. ENTRY tells several keys apart; a replica names its own with
api_key_keyring = "ENTRY".`,
		Args: argCount(0, 1),
		RunE: func(_ *cobra.Command, args []string) error { return oneLine(a.storeKey(args)) },
	}, &cobra.Command{
		Use:   "remove [ENTRY]",
		Short: "Remove a key from the keyring",
		Args:  argCount(0, 1),
		RunE:  func(_ *cobra.Command, args []string) error { return oneLine(a.removeKey(args)) },
	})
	return cmd
}

// entryOf is the entry that is meant; main says that it is the settings' own.
func entryOf(args []string) (name string, main bool) {
	if len(args) == 0 {
		return keyEntry, true
	}
	return args[0], args[0] == keyEntry
}

func (a *app) storeKey(args []string) error {
	name, main := entryOf(args)
	key, err := a.readKey()
	if err != nil {
		return err
	}
	if err := keyring.Set(name, key); err != nil {
		return err
	}
	if !main {
		fmt.Fprintf(a.stdout, "stored %s as %q: name it with api_key_keyring in %s\n", config.MaskKey(key), name, config.UserFile(a.env))
		return nil
	}
	if err := config.RememberKeyring(a.env, name); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "stored %s in the keyring\n", config.MaskKey(key))
	if settings, err := a.settings("", ""); err == nil && settings.Key() != (config.Key{Keyring: name}) {
		fmt.Fprintf(a.stdout, "it does not count here: another key comes from %s\n", settings.Source("api_key"))
	}
	return nil
}

func (a *app) removeKey(args []string) error {
	name, main := entryOf(args)
	err := keyring.Remove(name)
	if main && (err == nil || errors.Is(err, keyring.ErrNone)) {
		err = errors.Join(err, config.RememberKeyring(a.env, ""))
	}
	if err == nil {
		fmt.Fprintf(a.stdout, "removed %q from the keyring\n", name)
	}
	return err
}

// readKey reads a key, without showing it where somebody types it. It is never an
// argument: those are in the shell's history, and for everybody to see while it runs.
func (a *app) readKey() (string, error) {
	var text string
	if file, ok := a.stdin.(*os.File); ok && a.asks() {
		fmt.Fprint(a.stderr, "API key: ")
		typed, err := term.ReadPassword(int(file.Fd()))
		fmt.Fprintln(a.stderr)
		if err != nil {
			return "", fmt.Errorf("config: key: %w", err)
		}
		text = string(typed)
	} else {
		line, err := bufio.NewReader(io.LimitReader(a.stdin, maxKey+1)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("config: key: %w", err)
		}
		text = line
	}
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxKey || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", usagef("config: want an API key on standard input: one word")
	}
	return text, nil
}
