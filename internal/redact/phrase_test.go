package redact

import "testing"

func TestASecretIsFoundByTheWordsAroundIt(t *testing.T) {
	const pw = strongSecret
	for in, want := range map[string]string{
		"CREATE USER 'app'@'%' IDENTIFIED BY '" + pw + "';":           "CREATE USER 'app'@'%' IDENTIFIED BY '[redacted:password]';",
		"ALTER USER app WITH PASSWORD '" + pw + "';":                  "ALTER USER app WITH PASSWORD '[redacted:password]';",
		"SET PASSWORD FOR 'a'@'b' = PASSWORD('" + pw + "');":          "SET PASSWORD FOR 'a'@'b' = PASSWORD('[redacted:password]');",
		"requirepass " + pw + "\n":                                    "requirepass [redacted:password]\n",
		"echo '" + pw + "' | sudo -S make":                            "echo '[redacted:password]' | sudo -S make",
		"echo " + pw + " | docker login -u b --password-stdin r":      "echo [redacted:password] | docker login -u b --password-stdin r",
		"echo 'root:" + pw + "' | chpasswd":                           "echo 'root:[redacted:password]' | chpasswd",
		"htpasswd -bc f bob " + pw:                                    "htpasswd -bc f bob [redacted:password]",
		"keytool -list -storepass " + pw:                              "keytool -list -storepass [redacted:password]",
		"req.SetBasicAuth(\"bob\", \"" + pw + "\")":                   "req.SetBasicAuth(\"bob\", \"[redacted:password]\")",
		"setenv API_TOKEN " + pw:                                      "setenv API_TOKEN [redacted:token]",
		"ENV DB_PASSWORD " + pw:                                       "ENV DB_PASSWORD [redacted:password]",
		"os.Setenv(\"API_KEY\", \"" + pw + "\")":                      "os.Setenv(\"API_KEY\", \"[redacted:api-key]\")",
		"k := process.env.API_KEY || '" + pw + "'":                    "k := process.env.API_KEY || '[redacted:api-key]'",
		"let api_key: &str = \"" + pw + "\";":                         "let api_key: &str = \"[redacted:api-key]\";",
		"string ApiKey { get; set; } = \"" + pw + "\";":               "string ApiKey { get; set; } = \"[redacted:api-key]\";",
		"the password is " + pw + ".":                                 "the password is [redacted:password].",
		"Password for bob: " + pw:                                     "Password for bob: [redacted:password]",
		"DB_PASSWORD=\"my " + pw + " pass\"":                          "DB_PASSWORD=\"[redacted:password]\"",
		"\x1b[32mAPI_KEY\x1b[0m=\x1b[33m" + pw + "\x1b[0m":            "\x1b[32mAPI_KEY\x1b[0m=\x1b[33m[redacted:api-key]\x1b[0m",
		"\x1b[33mnpm_" + alnum + "Abcd\x1b[0m":                        "\x1b[33m[redacted:npm-token]\x1b[0m",
		"password: |\n  " + pw + "\n  Zq8Tn3Wd5Y\nport: 1":            "password: |\n  [redacted:password]\nport: 1",
		"password: &pw " + pw:                                         "password: &pw [redacted:password]",
		"db.test:5432:orders:app:" + pw:                               "db.test:5432:orders:app:[redacted:password]",
		"?next=%2Fa%3Ftoken%3D" + pw + "%26b%3D1":                     "?next=%2Fa%3Ftoken%3D[redacted:token]%26b%3D1",
		"<entry key=\"db.password\">" + pw + "</entry>":               "<entry key=\"db.password\">[redacted:password]</entry>",
		"<key>ApiToken</key>\n<string>" + pw + "</string>":            "<key>ApiToken</key>\n<string>[redacted:token]</string>",
		"admin:$2b$12$" + alnum + "ABCDEFGHIJ./efghij123\n":           "admin:[redacted:password-hash]\n",
		"Unseal Key 1: " + strongSecret + strongSecret + strongSecret: "Unseal Key 1: [redacted:vault-token]",
	} {
		redacts(t, in, want)
	}
	stays(t, "the password is base64-encoded", "the password is sha256", "Password for bob: none", "echo done1234 | sudo tee f", "password for the user: required",
		"set the token value1", "wrong password (attempt2)", "setPassword(newPassword1)", "getPassword('admin12')", "if token || 'x'", "AUTH required1", "the key \"id_column2\"",
		"ENV PATH /usr/local/bin1", `t.Run("token", "case12")`, "127.0.0.1:5432:5432", "ports: [\"5432:5432\"]", "the token `widget2`", "password (min 8 characters)")
}

func TestATokenBrokenIntoLinesIsOne(t *testing.T) {
	const token = "ghp_" + alnum + "Abcd"
	redacts(t, "x "+token[:20]+"\n"+token[20:]+"\nnext line", "x [redacted:github-pat]\nnext line")
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
	redacts(t, jwt[:50]+"\r\n"+jwt[50:100]+"\r\n"+jwt[100:]+"\r\nend", "[redacted:jwt]\r\nend")
	redacts(t, "   2→MIIEvQ"+alnum+"\n   3→"+alnum+"/Ab=\n   4→-----END PRIVATE KEY-----\n", "   2→[redacted:private-key]\n")
	stays(t, "sk-ant-"+"api03\nthe_key_is_missing_here_today", "the risk-\n"+alnum, "xyz\n-----END PRIVATE KEY-----", alnum+"\n-----END CERTIFICATE-----")
}

func TestANameInOtherLettersIsOne(t *testing.T) {
	for _, name := range []string{"пароль: ", "密码：", "パスワード: ", "senha=", "password&quot;:&quot;", `password\u003d`} {
		redacts(t, name+strongSecret, name+"[redacted:password]")
	}
	redacts(t, "postgres%3A%2F%2Fapp%3A"+strongSecret+"%40db", "postgres%3A%2F%2Fapp%3A[redacted:url-password]%40db")
	redacts(t, "::add-mask::"+strongSecret, "::add-mask::[redacted:secret]")
}

func TestACookieThatLetsItsBearerInIsASecret(t *testing.T) {
	const id = "k3J9x0Q2m7Z5v8N1"
	redacts(t, "Cookie: theme=dark; sessionid="+id+"; lang=en\r\n", "Cookie: theme=dark; sessionid=[redacted:cookie]; lang=en\r\n")
	redacts(t, "< Set-Cookie: sid="+id+"; Path=/; HttpOnly", "< Set-Cookie: sid=[redacted:cookie]; Path=/; HttpOnly")
	redacts(t, "curl -b 'session="+id+"' https://x.test", "curl -b 'session=[redacted:password]' https://x.test")
	redactsJSON(t, `{"cookie":"a=`+id+`; theme=dark; auth=`+id+`"}`, `{"cookie":"a=[redacted:cookie]; theme=dark; auth=[redacted:cookie]"}`)
	stays(t, "Cookie: theme=dark; lang=en", "Set-Cookie: lang=en; Expires=Wed, 09 Jun 2027 10:18:14 GMT", "cookie: undefined", "cookies = parse(cookie=header.value2)")
}

func TestEveryValueOfAKubernetesSecretIsASecret(t *testing.T) {
	redacts(t, "kind: Secret\nmetadata:\n  name: app\ndata:\n  dsn: YWJjZGVm\n  b: |\n    eHl6\n    eHl6\nimmutable: true\n",
		"kind: Secret\nmetadata:\n  name: app\ndata:\n  dsn: [redacted:secret]\n  b: |\n    [redacted:secret]\n    [redacted:secret]\nimmutable: true\n")
	redacts(t, "+stringData:\n+  dsn: \"plainwords\"\n+kind: Secret\n", "+stringData:\n+  dsn: \"[redacted:secret]\"\n+kind: Secret\n")
	redacts(t, `x {"data":{"a":"YWJjZGVm","b":"eHl6"},"kind":"Secret"}`, `x {"data":{"a":"[redacted:secret]","b":"[redacted:secret]"},"kind":"Secret"}`)
	redactsJSON(t, `{"data":{"a":"YWJjZGVm"},"kind":"Secret"}`, `{"data":{"a":"[redacted:secret]"},"kind":"Secret"}`)
	stays(t, "kind: ConfigMap\ndata:\n  dsn: YWJjZGVm\n---\nkind: Secret\n", "kind: SecretStore\ndata:\n  a: YWJjZGVm\n", "kind: Secret\ndata:\n  a: {{ .Values.dsn }}\n")
	staysJSON(t, `{"data":{"a":"YWJjZGVm"},"kind":"ConfigMap"}`)
}

func TestWhatTerraformCallsSensitiveIsASecret(t *testing.T) {
	redactsJSON(t, `{"dsn":{"sensitive":true,"type":"string","value":"correcthorse"}}`, `{"dsn":{"sensitive":true,"type":"string","value":"[redacted:secret]"}}`)
	redactsJSON(t, `{"type":"random_password","a":{"length":16,"result":"correcthorse"}}`, `{"type":"random_password","a":{"length":16,"result":"[redacted:password]"}}`)
	redacts(t, "variable \"db_password\" {\n  type = string\n  default = \"correcthorse\"\n}", "variable \"db_password\" {\n  type = string\n  default = \"[redacted:secret]\"\n}")
	staysJSON(t, `{"dsn":{"sensitive":false,"type":"string","value":"correcthorse"}}`)
}
