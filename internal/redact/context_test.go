package redact

import "testing"

func TestASecretIsFoundByWhatStandsBeforeIt(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := Text(in); got != want {
			t.Errorf("Text(%q)\n got %q\nwant %q", in, got, want)
		}
	}
	// Environment files and shells.
	f("API_KEY=hunter22abc", "API_KEY=[redacted:api-key]")
	f("export GITLAB_TOKEN=abc123def456", "export GITLAB_TOKEN=[redacted:token]")
	f("DB_PASSWORD='p@ss w0rd!'", "DB_PASSWORD='[redacted:password]'")
	f("A=1\nPASSWORD=correcthorse\nB=2", "A=1\nPASSWORD=[redacted:password]\nB=2")
	f("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzKEY", "AWS_SECRET_ACCESS_KEY=[redacted:secret]")
	f("API_KEY_SALT=abcdef123", "API_KEY_SALT=[redacted:api-key]")
	f("API_KEY=PwDhovV72E4QdYEvQGnMYYd5dN3", "API_KEY=[redacted:api-key]") // has pwd in it
	f("SECRET_KEY_BASE=0f9e8d7c6b5a", "SECRET_KEY_BASE=[redacted:secret]")
	f("STRIPE_API_KEY_PROD=abcdef123", "STRIPE_API_KEY_PROD=[redacted:api-key]")
	f("CLIENT_SECRET=a1b2c3d4 CLIENT_ID=77", "CLIENT_SECRET=[redacted:secret] CLIENT_ID=77")
	f("mysql --password=hunter22 -u root", "mysql --password=[redacted:password] -u root")
	f("tool --api-key abc123def --verbose", "tool --api-key [redacted:api-key] --verbose")
	f("PGPASSWORD=hunter22 psql", "PGPASSWORD=[redacted:password] psql")
	f("PASSWORD=12345678", "PASSWORD=[redacted:password]")
	f("DB_PASSWORD=xK(9#mq)2", "DB_PASSWORD=[redacted:password]")
	f("password: NHoAoDzyfLdqZFLscacBtXY", "password: [redacted:password]")
	f("TOKEN=Bearer abc123def456", "TOKEN=Bearer [redacted:token]")
	// Configuration and code.
	f("password: hunter22", "password: [redacted:password]")
	f("db:\n  password: correcthorse\n  port: 1", "db:\n  password: [redacted:password]\n  port: 1")
	f("api key = abc123def", "api key = [redacted:api-key]")
	f(`const apiKey = "abc123def";`, `const apiKey = "[redacted:api-key]";`)
	f(`const apiKey: string = "abc123def";`, `const apiKey: string = "[redacted:api-key]";`)
	f(`token := "abc123def"`, `token := "[redacted:token]"`)
	f(`if (password == "hunter22") {`, `if (password == "[redacted:password]") {`)
	f(`os.environ["API_KEY"] = "abc123def"`, `os.environ["API_KEY"] = "[redacted:api-key]"`)
	f(`{"password": "hunter22", "user": "bob"}`, `{"password": "[redacted:password]", "user": "bob"}`)
	f(`{\"password\": \"hunter22\", \"user\": \"bob\"}`, `{\"password\": \"[redacted:password]\", \"user\": \"bob\"}`)
	f(`{\\\"password\\\":\\\"hunter22\\\"}`, `{\\\"password\\\":\\\"[redacted:password]\\\"}`)
	f(`login(user="bob", password="hunter22")`, `login(user="bob", password="[redacted:password]")`)
	f(`{"clientSecret":"a\"b c d 1","x":1}`, `{"clientSecret":"[redacted:secret]","x":1}`)
	f(`secretKey: 'abc123def'`, `secretKey: '[redacted:secret]'`)
	f("Server=db;User Id=sa;Password=hunter22;Encrypt=true", "Server=db;User Id=sa;Password=[redacted:password];Encrypt=true")
	f("AccountKey=abcd1234efgh+/==;EndpointSuffix=x", "AccountKey=[redacted:api-key];EndpointSuffix=x")
	f("https://x.test/?access_token=abc123def&page=2", "https://x.test/?access_token=[redacted:token]&page=2")
	f("+password = hunter22", "+password = [redacted:password]")
	f("     3→PASSWORD=hunter22", "     3→PASSWORD=[redacted:password]")
	f("<server><password>hunter22</password></server>", "<server><password>[redacted:password]</password></server>")
	// The precise rule names it where one knows it.
	f("GITHUB_TOKEN=ghp_"+alnum+"Abcd", "GITHUB_TOKEN=[redacted:github-pat]")
	// Headers keep name and scheme.
	f("Authorization: Bearer abc.def-123", "Authorization: Bearer [redacted:auth-header]")
	f("authorization: Basic dXNlcjpwYXNzd29yZA==", "authorization: Basic [redacted:auth-header]")
	f(`curl -H "Authorization: token abc123def456" x`, `curl -H "Authorization: token [redacted:auth-header]" x`)
	f(`{"Authorization": "Bearer abcdef123456"}`, `{"Authorization": "Bearer [redacted:auth-header]"}`)
	f(`-H 'X-Api-Key: abc12345'`, `-H 'X-Api-Key: [redacted:api-key]'`)
	f("X-Auth-Token: abc12345", "X-Auth-Token: [redacted:token]")
	f("sent bearer abcDEF123456 along", "sent bearer [redacted:bearer] along")
	// URLs keep user and host.
	f("postgres://app:s3cret@db.test:5432/x", "postgres://app:[redacted:url-password]@db.test:5432/x")
	f("redis://:s3cret@cache.test", "redis://:[redacted:url-password]@cache.test")
	f("https://bob:p@ss@git.test/o/r.git", "https://bob:[redacted:url-password]@git.test/o/r.git")
	f("https://x-access-token:ghs_"+alnum+"Abcd@github.com/o/r", "https://x-access-token:[redacted:github-token]@github.com/o/r")
	// Keys in blocks, with the line ends of JSON text, a diff, a numbered listing.
	f(`"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"`, `"[redacted:private-key]\n"`)
	f("+-----BEGIN EC PRIVATE KEY-----\n+MHcCAQEE\n+-----END EC PRIVATE KEY-----\n", "+[redacted:private-key]\n")
	f("1→-----BEGIN PRIVATE KEY-----\n2→MIIEvQ\n3→-----END PRIVATE KEY-----\n4→x", "1→[redacted:private-key]\n4→x")
	f("-----BEGIN PRIVATE KEY-----\n"+alnum+"…", "[redacted:private-key]…")
	// Webhooks.
	f("https://hooks.slack.com/services/T0/B0/abc", "https://[redacted:slack-webhook]")
	f("https://discord.com/api/webhooks/123/"+alnum, "https://[redacted:discord-webhook]")
}

func TestWhatIsNoSecretStays(t *testing.T) {
	for _, text := range benign() {
		if got := Text(text); got != text {
			t.Errorf("Text(%q)\n got %q", text, got)
		}
	}
}

func benign() []string {
	return []string{
		"commit 9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c", "id 550e8400-e29b-41d4-a716-446655440000",
		`{"input_tokens": 1234567, "output_tokens":1234567,"max_tokens":4096000}`, "max_tokens=128000 total_tokens: 1234567",
		`"token_count": 1234567`, "token: 1234567", "token_type=bearer_token", `"tokenizer": "cl100k_base"`, "tokens: abcdef123",
		"the password: is too short", "Password: must be at least 8 characters", "the secret to good coffee: freshness1",
		"token := lexer.Next()", "tok, token := p.next2(), 1", "password = getPassword()", "secret = os.Getenv(\"SECRET\")",
		"const apiKey = process.env.API_KEY;", "api_key=os.environ['API_KEY']", "password=self.password,", "token=token)",
		"login(user=user, password=password)", "password: string;", "apiKey?: string", "token: Token", "secret: Option<String>",
		"func f(password string) error", "password: str = None", `export TOKEN=$GITHUB_TOKEN`, `TOKEN="${GITHUB_TOKEN}"`,
		"TOKEN=$(gh auth token)", "password: ${{ secrets.PASSWORD }}", "API_KEY=<your-api-key>", "API_KEY=your_api_key_here",
		"PASSWORD=********", "password=xxxxxxxx", `"password": "Enter your password"`, `"password": "The password is required"`,
		"-H \"Authorization: Bearer $TOKEN\"", "Authorization: Basic authentication", "bearer authentication is used",
		"Authorization: required", "http://localhost:8080/a@b", "http://host:8080?mail=a@b.test", "git@github.com:owner/repo.git",
		"https://github.com/owner/repo.git", "ssh://git@github.com/o/r", "postgres://app:$PASS@db", "postgres://app:${PASS}@db/x",
		"PWD=/home/dev/project", "OLDPWD=/home/dev/project", "TOKEN_FILE=/run/secrets/token1", "SSH_PRIVATE_KEY=/home/dev/.ssh/id_ed25519",
		"token_url: https://x.test/oauth2/token1", "a task-list, disk-usage, risk-" + "assessment", "key: value123", "primary_key=abc12345",
		"password-reset: enabled1", "secret_name: my-secret-1", "if token != nil {", "for token in tokens:", "token => token.value1",
		"-----BEGIN PRIVATE KEY-----", `regexp.MustCompile("-----BEGIN [A-Z ]*PRIVATE KEY-----")`, "-----BEGIN CERTIFICATE-----\n" + alnum + "\n-----END CERTIFICATE-----",
		"AKIA", "sk-ant-...", "sk-...", "ghp_xxx", "see eyJ.eyJ.x", "integrity sha512-" + alnum + alnum + "==", "/api/keys/AIza",
		"https://hooks.slack.com/docs", "assert token == expected_token1", "new CancellationToken(true)", "secret santa: everyone",
		"keyboard: qwerty1", "monkey=banana1", "apikeys: abcdef1", `{"required":["password","token"]}`, `{"token":{"type":"string"}}`,
		`env = append(env, "PWD="+cmd.Dir)`, `env = append(env, "TOKEN=" + x2, "A=B")`, "PrivateKey: testRSA2048PrivateKey,",
		"key.PrivateKey = signer2{testKey}", "a._password=s._password,l=1", "ENCRYPTION_KEY_ALL = 0xc0406619", "HTTP_TOKEN = /^[!#$%0-9]+$/",
		"token: `a${b}c1`", `token.ADD: "addition1"`, "authorization := r.Header.Get2(x)", "authorization = req2.Header.Get(x)", "FsNameToken = *(*TToken)(x1)", "Vec<Token>::new()", "useState<Password>('x12345')", "<password>${env.PASSWORD}</password>", `"api_key": null, "b": "abcdef1"`, "let token = parser.parse2(x)", "password\n: next1234", "token: &str", "secret: Vec<u8>",
	}
}
