package redact

// rarer are rules of our own for the full pass alone: their keywords are common, or
// stand in the middle of the token.
var rarer = [...]rule{
	{name: "airtable-token", keywords: []string{"pat"}, pattern: `pat[0-9A-Za-z]{14}\.[0-9a-f]{64}`, word: true},
	{name: "azure-client-secret", keywords: []string{"0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"}, back: 3, pattern: `[\w~.]{3}\dQ~[\w~.-]{31,34}`, word: true},
	{name: "maxmind-license-key", keywords: []string{"_mmk"}, back: 36, pattern: `[0-9A-Za-z]{6}_[0-9A-Za-z]{29}_mmk\b`, word: true},
	{name: "google-oauth-token", keywords: []string{"4/0A"}, pattern: `4/0A[\w-]{40,}`, word: true},

	// Passwords as servers keep them: with time they give the password away.
	{name: "password-hash", keywords: []string{"$2a$", "$2b$", "$2x$", "$2y$"}, pattern: `\$2[abxy]\$\d\d\$[./0-9A-Za-z]{53}`},
	{name: "password-hash", keywords: []string{"$1$", "$5$", "$6$", "$y$", "$7$", "$gy$", "$apr1$", "$md5$", "$sha1$"}, pattern: `\$(?:1|5|6|7|y|gy|apr1|md5|sha1)\$(?:rounds=\d+\$)?[./0-9A-Za-z]{1,32}\$(?:[./0-9A-Za-z]{1,86}\$)?[./0-9A-Za-z]{22,86}`},
	{name: "password-hash", keywords: []string{"$argon2", "$scrypt$", "$pbkdf2"}, pattern: `\$(?:argon2(?:id|i|d)|scrypt|pbkdf2(?:-sha\d+)?)\$[\w=,$-]{1,64}\$[./+0-9A-Za-z]{8,}\$[./+0-9A-Za-z]{22,}=*`},
	{name: "password-hash", keywords: []string{"$P$", "$H$"}, pattern: `\$[PH]\$[./0-9A-Za-z]{31}`},
	{name: "password-hash", keywords: []string{"pbkdf2_sha", "bcrypt_sha", "scrypt$"}, pattern: `(?:pbkdf2_sha\d+|bcrypt_sha\d+|scrypt)\$\d+\$[\w$./+-]{1,64}\$[\w./+]{27,}=*`},
	{name: "password-hash", keywords: []string{"{SHA}", "{SSHA", "{SMD5}", "{CRYPT}"}, pattern: `\{(?:SHA|SSHA|SSHA\d+|SMD5|CRYPT)\}[./+$0-9A-Za-z]{24,}=*`},
	{name: "password-hash", keywords: []string{"scram-sha-256$", "SCRAM-SHA-256$"}, pattern: `(?i:scram-sha-256)\$\d+:[\w+/=]{16,}\$[\w+/=]{40,}:[\w+/=]{40,}`},
}
