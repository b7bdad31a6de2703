package redact

// maxWord is the longest word in the lists below.
const maxWord = 16

// is reports whether a list holds the word, in any case.
func is(list func([]byte) bool, word []byte) bool {
	if len(word) > maxWord {
		return false
	}
	var buf [maxWord]byte
	for i, c := range word {
		buf[i] = lower(c)
	}
	return list(buf[:len(word)])
}

// innocent words after a sensitive name turn it into the name of something else:
// token_count, password-reset.
func innocent(word []byte) bool {
	switch string(word) {
	case "count", "counts", "type", "types", "limit", "limits", "usage", "used", "name", "names", "id", "ids",
		"url", "uri", "urls", "path", "paths", "file", "files", "filename", "dir", "folder", "field", "fields",
		"length", "len", "size", "budget", "expiry", "expires", "expiration", "expired", "expire", "at", "ttl",
		"age", "index", "policy", "required", "enabled", "disabled", "valid", "invalid", "reset", "hint",
		"label", "placeholder", "prompt", "help", "format", "pattern", "regex", "prefix", "suffix", "endpoint",
		"provider", "manager", "mode", "method", "scheme", "store", "source", "scope", "scopes", "env", "var", "variable", "ref",
		"reference", "version", "class", "kind", "status", "error", "message", "description", "title", "text",
		"input", "form", "page", "rotation", "min", "max", "strength", "rules", "rule", "per":
		return true
	}
	return false
}

// valueWord names what holds the value in an object of a secret's name.
func valueWord(word []byte) bool {
	switch string(word) {
	case "value", "plaintext", "plain", "raw", "data", "current", "content", "literal":
		return true
	}
	return false
}

// typeWord is what stands in a value's place: a type, or a word for its absence.
func typeWord(word []byte) bool {
	switch string(word) {
	case "string", "number", "boolean", "object", "integer", "unknown", "undefined", "function", "optional",
		"required", "uint8array", "bytes", "bytearray", "buffer", "charsequence", "securestring", "secretstr",
		"option", "symbol", "bigint", "double", "hidden", "masked", "redacted", "omitted", "missing", "present",
		"absent", "invalid", "expired", "disabled", "enabled":
		return true
	}
	return false
}

// placeholderWord is a word of which placeholders are made: your-api-key-here.
func placeholderWord(word []byte) bool {
	switch string(word) {
	case "your", "my", "the", "a", "an", "some", "here", "api", "key", "token", "secret", "password",
		"passwd", "passphrase", "pwd", "example", "placeholder", "client", "access", "private", "auth", "bearer",
		"user", "license", "replace", "insert", "change", "enter", "new", "old", "current", "goes", "confirm",
		"session", "refresh", "csrf", "xsrf", "id", "value", "todo", "none", "null":
		return true
	}
	return false
}

// proseWord tells a sentence from a passphrase.
func proseWord(word []byte) bool {
	switch string(word) {
	case "the", "a", "an", "your", "you", "is", "are", "was", "be", "must", "should", "to", "of", "for", "or",
		"and", "not", "no", "with", "in", "on", "this", "that", "it", "please", "enter", "invalid", "required",
		"missing", "incorrect", "wrong":
		return true
	}
	return false
}

// digestWord names what looks drawn and is public.
func digestWord(word []byte) bool {
	switch string(word) {
	case "sha", "sha1", "sha256", "sha512", "md5", "hash", "digest", "checksum", "commit", "rev", "revision", "ref",
		"integrity", "etag", "h1", "uuid", "guid", "fingerprint", "version", "id", "ids", "url", "build", "release", "tag":
		return true
	}
	return false
}
