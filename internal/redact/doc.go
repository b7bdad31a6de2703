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
// What follows a sensitive name is a secret from six characters on. In quotes, in an
// environment file and in a URL's query it is taken as it stands. Bare words
// elsewhere are code more often than secrets: a call, a chain of names, a type, a
// variable stay, as do placeholders, references such as $NAME, paths and sentences.
// Numbers stay unless the name is a password's. Names that only speak of a secret,
// such as max_tokens or token_type, are none.
//
// The passes fail closed: they return an error, never the text that they could
// not look through.
package redact
