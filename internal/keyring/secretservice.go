//go:build linux || netbsd || openbsd

package keyring

import (
	"fmt"
	"os"

	secretservice "github.com/zalando/go-keyring/secret_service"
)

// reachable reports whether there is a session's bus. Without one the library would start
// another, which nobody would end.
func reachable() error {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return nil
	}
	if _, err := os.Stat(fmt.Sprintf("/run/user/%d/bus", os.Getuid())); err != nil {
		return ErrAbsent
	}
	return nil
}

// ready reports whether the keyring can be read as it is. To read one that is locked has
// the desktop ask for its password, out of nowhere for whoever sits there.
func ready() error {
	if err := reachable(); err != nil {
		return err
	}
	keyrings, err := secretservice.NewSecretService()
	if err != nil {
		return ErrAbsent
	}
	locked, err := keyrings.GetLoginCollection().GetProperty("org.freedesktop.Secret.Collection.Locked")
	if err != nil {
		return ErrAbsent
	}
	if is, _ := locked.Value().(bool); is {
		return ErrLocked
	}
	return nil
}
