package plant

import "encoding/base64"

// Form is a way in which a secret is given to a name.
type Form struct {
	Name  string
	Text  string // in which %s is its place
	Value func(Drawer) string
	JSON  bool // Text is a JSON document, and not a text
}

func key(d Drawer) string   { return d.Of(24+d.IntN(20), "a") }
func hex(d Drawer) string   { return d.Of(32, "h") }
func human(d Drawer) string { return d.password() }

func login(d Drawer) string {
	return base64.StdEncoding.EncodeToString([]byte("bob:" + d.password()))
}

func shaped(template string) func(Drawer) string {
	return func(d Drawer) string { return d.Fill(template) }
}

// Named lists the forms of NAME=value.
func Named() []Form {
	return []Form{
		{"env-api-key", "API_KEY=%s\n", key, false}, {"env-password", "DB_PASSWORD=%s\n", human, false},
		{"env-token", "export DEPLOY_TOKEN=%s\n", key, false}, {"env-secret", "CLIENT_SECRET=\"%s\"\n", key, false},
		{"env-prefixed", "MYAPP_PROD_SECRET_KEY=%s\n", hex, false}, {"env-suffix", "STRIPE_API_KEY_PROD=%s\n", key, false},
		{"env-pass", "SMTP_PASS=%s\n", human, false}, {"aws-secret", "AWS_SECRET_ACCESS_KEY=%s\n", shaped("{40b}"), false},
		{"aws-credentials", "[default]\naws_secret_access_key = %s\n", shaped("{40b}"), false},
		{"export-in-shell", "PGPASSWORD=%s psql -h db\n", human, false}, {"docker-env", "docker run -e DB_PASSWORD=%s app\n", human, false},
		{"dockerfile", "ENV API_TOKEN=%s\n", key, false}, {"make", "TOKEN := %s\n", key, false},
		{"yaml", "db:\n  user: app\n  password: %s\n", human, false}, {"yaml-quoted", "api_key: \"%s\"\n", key, false},
		{"k8s-env", "- name: DB_PASSWORD\n  value: %s\n", human, false}, {"k8s-secret", "kind: Secret\ndata:\n  password: %s\n", shaped("{24b}"), false},
		{"toml", "secret_key = \"%s\"\n", key, false}, {"ini", "[mysql]\npassword=%s\n", human, false},
		{"properties", "spring.datasource.password=%s\n", human, false}, {"xml", "<password>%s</password>\n", human, false},
		{"netrc", "machine git.test login bob password %s\n", human, false}, {"npmrc", "//registry.test/:_authToken=%s\n", key, false},
		{"json-key", `{"password":"%s"}`, human, true}, {"json-camel", `{"clientSecret":"%s","id":1}`, key, true},
		{"json-nested", `{"credentials":{"secret":{"value":"%s"}}}`, key, true}, {"json-pair", `{"name":"API_TOKEN","value":"%s"}`, key, true},
		{"json-in-json", `{"body":"{\"password\":\"%s\"}"}`, human, true}, {"json-twice", `{"a":"{\"b\":\"{\\\"token\\\":\\\"%s\\\"}\"}"}`, key, true},
		{"json-header", `{"headers":{"Authorization":"Bearer %s"}}`, key, true}, {"json-argv", `{"argv":["mysql","-u","root","-p%s"]}`, human, true},
		{"json-flag", `["deploy","--api-key","%s"]`, key, true}, {"json-docker", `{"auths":{"r.test":{"auth":"%s"}}}`, login, true},
		{"go", "const apiKey = \"%s\"\n", key, false}, {"go-short", "\ttoken := \"%s\"\n", key, false}, {"js", "const clientSecret = '%s';\n", key, false},
		{"ts", "const apiKey: string = \"%s\";\n", key, false}, {"python", "db_password = \"%s\"\n", human, false},
		{"python-env", "os.environ[\"API_KEY\"] = \"%s\"\n", key, false}, {"python-call", "connect(user=\"bob\", password=\"%s\")\n", human, false},
		{"ruby", "  secret_key: '%s',\n", key, false}, {"php", "'password' => '%s',\n", human, false}, {"terraform", "  password = \"%s\"\n", human, false},
		{"flag", "deploy --token %s --verbose\n", key, false}, {"flag-equals", "mysql --password=%s -u root\n", human, false},
		{"curl-user", "curl -u admin:%s https://x.test\n", human, false}, {"mysql-p", "mysql -u root -p%s app\n", human, false},
		{"sshpass", "sshpass -p %s ssh host\n", human, false}, {"redis-cli", "redis-cli -a %s ping\n", human, false},
		{"header-bearer", "curl -H 'Authorization: Bearer %s' x\n", key, false}, {"header-basic", "Authorization: Basic %s\r\n", login, false},
		{"header-token", "authorization: token %s\n", key, false}, {"header-key", "-H 'X-Api-Key: %s'\n", key, false},
		{"basic", "req.headers = [\"Basic %s\"]\n", login, false}, {"bearer", "sent bearer %s along\n", key, false},
		{"url-postgres", "postgres://app:%s@db.test:5432/x\n", human, false}, {"url-mongo", "mongodb+srv://app:%s@c.mongodb.net/x\n", human, false},
		{"url-redis", "redis://:%s@cache.test:6379/0\n", human, false}, {"url-amqp", "amqps://app:%s@mq.test/v\n", human, false},
		{"url-git", "https://bob:%s@git.test/o/r.git\n", key, false}, {"url-user-token", "https://%s@git.test/o/r.git\n", shaped("{40a}"), false},
		{"url-query", "https://x.test/?access_token=%s&page=2\n", key, false}, {"azure-sas", "https://x.blob.core.windows.net/c?sv=1&sig=%s&se=2\n", shaped("{43a}"), false},
		{"s3-signed", "https://b.s3.test/k?X-Amz-Signature=%s&x=1\n", shaped("{64h}"), false},
		{"ado-net", "Server=db;User Id=sa;Password=%s;Encrypt=true\n", human, false}, {"azure-account", "AccountName=x;AccountKey=%s==;EndpointSuffix=y\n", shaped("{86b}"), false},
		{"azure-bus", "Endpoint=sb://x/;SharedAccessKey=%s=\n", shaped("{43b}"), false}, {"jdbc", "jdbc:mysql://db/x?user=app&password=%s\n", human, false},
		{"diff", "+  password: %s\n", human, false}, {"numbered", "     3→API_SECRET=%s\n", key, false}, {"grep", "config/app.env:12:AUTH_TOKEN=%s\n", key, false},
		{"datadog", "datadog_app = \"%s\"\n", shaped("{40h}"), false}, {"twitch", "TWITCH = '%s'\n", shaped("{30l}"), false},
		{"telegram", "telegram_bot: %s\n", shaped("{10d}:A{34w}"), false}, {"cloudflare", "cloudflare-api = %s\n", shaped("{40w}"), false},
		{"okta", "OKTA: \"00%s\"\n", shaped("{40a}"), false}, {"fastly", "setenv('FASTLY', '%s')\n", shaped("{32a}"), false},
	}
}
