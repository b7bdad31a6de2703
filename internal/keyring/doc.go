// Package keyring keeps API keys in the system's keyring: the Keychain of macOS, the
// Credential Manager of Windows, or the Secret Service (GNOME Keyring, KWallet, KeePassXC)
// over D-Bus. The entries belong to the service "tracesmith"; each has a name.
//
// Drainers and commands read it, hooks never do.
package keyring
