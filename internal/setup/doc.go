// Package setup puts the hooks into agents' settings and takes them out again.
//
// The settings belong to somebody else: they are changed as a whole or not at all, and
// nothing in them but the hooks. What a file was before the first change is kept in a
// receipt, so that taking the hooks out restores every byte where nobody touched the
// file since, and removes a file that was not there before.
//
// [Installer.Install] and [Installer.Uninstall] make a [Plan], which changes nothing
// until [Plan.Apply]. [Installer.Survey] says how an agent stands.
package setup
