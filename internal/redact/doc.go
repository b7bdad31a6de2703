// Package redact replaces secrets by a marker that names the rule that found
// them: [redacted:github-pat].
//
// There are two passes. [Fast] is for the hook, which an agent waits for: it looks
// for tokens that a fixed prefix gives away, in the bytes of a JSON document. The
// full pass ([Run], [JSON], [Text]) is for what leaves the machine: it decodes
// every string and every key, and also knows secrets by what stands before them
// (a name such as API_KEY, an authorization header, the user in a URL).
//
// Both scan for keywords first and look closer only around one, at a bounded piece of
// text, so the time is linear in the size, whatever the text. Rules are compiled when
// they are first needed: importing the package costs nothing. Redacting what was
// redacted changes nothing.
//
// What follows a sensitive name is a secret from six characters on. In quotes, in an
// environment file and in a URL's query it is taken as it stands. Bare words
// elsewhere are code more often than secrets: a call, a chain of names, a type, a
// variable stay, as do placeholders, references such as $NAME, paths and sentences.
// Names that only speak of a secret, such as max_tokens or token_type, are none.
//
// The less a name says, the more its value must show. After a password's any value
// counts, and any number of six digits. After token, key and secret a number has ten
// digits at least. After pass it has a digit or both cases. And it must look drawn by
// chance, with digits in three places among the letters, after the plural tokens or
// auth, behind the operators of code (==, :=, =>), beside a template's references,
// in brackets, and as the user of a URL, where it also has sixteen characters:
// https://TOKEN@host is redacted, git@ and deploy-2024@ are not.
//
// In JSON a key speaks for its list, and for the value in its object
// ("secret":{"value":"…"}); a flag speaks for the argument after it
// (["--password","…"]). The short options of curl, mysql and others are known too.
//
// Where no name is given a value, words tell: a statement of a database, what is piped
// into a command, the arguments of a call, a sentence ("the password is …", where the
// value must show itself), a cookie's header, a line of .pgpass, the data of a
// Kubernetes Secret, what Terraform calls sensitive. Hashes of passwords count as
// secrets. A token that a line break cuts in two is found where its first part looks
// drawn; a name and its value in the columns of a table are not.
//
// The passes fail closed: they return an error, never the text that they could
// not look through.
package redact
