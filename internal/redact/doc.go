// Package redact replaces secrets by a marker that names the rule that found
// them: [redacted:github-pat].
//
// There are two passes. [Fast] is for the hook, which an agent waits for: it looks
// for tokens that a fixed prefix gives away, in the bytes of a JSON document. The
// full pass ([Run], [JSON], [Text]) is for what leaves the machine: it decodes
// every string and every key, and also knows secrets by what stands before them
// (a name such as API_KEY, an authorization header, the user in a URL).
//
// Both scan for keywords first and look closer only around one, so the time is
// linear in the size. Rules are compiled when they are first needed: importing
// the package costs nothing. Redacting what was redacted changes nothing.
//
// The passes fail closed: they return an error, never the text that they could
// not look through.
package redact
