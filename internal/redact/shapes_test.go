package redact

import (
	"encoding/json"
	"testing"
)

// strongSecret looks like a password that somebody thought about.
const strongSecret = "Sup3rS3cret9"

// redacts checks that a text is redacted, and that it is then left alone.
func redacts(t *testing.T, in, want string) {
	t.Helper()
	if got := Text(in); got != want {
		t.Errorf("Text(%q)\n got %q\nwant %q", in, got, want)
	}
	if again := Text(want); again != want {
		t.Errorf("Text(%q) again\n got %q", want, again)
	}
}

func redactsJSON(t *testing.T, in, want string) {
	t.Helper()
	got, err := JSON(json.RawMessage(in))
	if err != nil || string(got) != want {
		t.Errorf("JSON(%s)\n got %s, %v\nwant %s", in, got, err, want)
	}
	if again, err := JSON(json.RawMessage(want)); err != nil || string(again) != want {
		t.Errorf("JSON(%s) again\n got %s, %v", want, again, err)
	}
}

func stays(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		redacts(t, text, text)
	}
}

func staysJSON(t *testing.T, docs ...string) {
	t.Helper()
	for _, doc := range docs {
		redactsJSON(t, doc, doc)
	}
}

func TestANumberIsASecretUnderASecretsName(t *testing.T) {
	redactsJSON(t, `{"api_key":123456789012}`, `{"api_key":"[redacted:api-key]"}`)
	redactsJSON(t, `{"password" : 123456 , "n": 123456}`, `{"password" : "[redacted:password]" , "n": 123456}`)
	redactsJSON(t, `{"password":[123456,{"a":1234567}],"b":123456}`, `{"password":["[redacted:password]",{"a":1234567}],"b":123456}`)
	redactsJSON(t, `[{"secret":9876543210987,"name":"a"}]`, `[{"secret":"[redacted:secret]","name":"a"}]`)
	redacts(t, `"api_key": 123456789012,`, `"api_key": [redacted:api-key],`)
	redacts(t, "API_KEY=123456789012", "API_KEY=[redacted:api-key]")
	staysJSON(t, `{"max_tokens":128000,"input_tokens":12345678901,"tokens":12345678901}`, `{"token":123456789}`, `{"token":-1234567890123}`,
		`{"secret":0.1234567890123}`, `{"password":12345}`, `{"password":true,"token_count":12345678901}`, `{"password":1e10}`,
		`{"password":{"min":1234567}}`, `{"api_key":{},"n":123456789012}`, `{"api_key":[],"n":123456789012}`)
	stays(t, "token: 1234567", "api_key_id: 123456789012", "token = 2024-01-15", "token: 127.0.0.1:8080", "total_tokens=12345678901")
}

func TestAPluralNamesSecretsToo(t *testing.T) {
	redactsJSON(t, `{"passwords":["hunter22","correcthorse"]}`, `{"passwords":["[redacted:password]","[redacted:password]"]}`)
	redactsJSON(t, `{"api_keys":["`+strongSecret+`"],"x":["`+strongSecret+`"]}`, `{"api_keys":["[redacted:api-key]"],"x":["`+strongSecret+`"]}`)
	redactsJSON(t, `{"secrets":[{"value":"`+strongSecret+`"},{"value":"Zq8Tn3Wd5Y"}]}`, `{"secrets":[{"value":"[redacted:secret]"},{"value":"[redacted:secret]"}]}`)
	redacts(t, `passwords = ["hunter22", "hunter23"]`, `passwords = ["[redacted:password]"]`)
	redacts(t, "\"passwords\": [\n  \"hunter22\"\n]", "\"passwords\": [\n  \"[redacted:password]\"\n]")
	staysJSON(t, `{"tokens":["hello","world2","abcdef123"]}`, `{"secrets":["DB_PASSWORD","API_KEY"]}`, `{"keys":["`+strongSecret+`"]}`,
		`{"passwords":["must be 8 characters"]}`, `{"api_keys":["production","staging1"]}`)
	stays(t, "secrets: inherit", `tokens = ["the1", "cat2"]`, "tokens: abcdef123", "passwords: []", "the tokens: a1b2c3", `secrets: ["DB_PASSWORD"]`)
}

func TestTheValueWithinASecretsObjectIsASecret(t *testing.T) {
	redactsJSON(t, `{"secret":{"value":"hunter22"}}`, `{"secret":{"value":"[redacted:secret]"}}`)
	redactsJSON(t, `{"password":{"id":"abcdef1","plaintext":"correcthorse"},"value":"hunter22"}`, `{"password":{"id":"abcdef1","plaintext":"[redacted:password]"},"value":"hunter22"}`)
	redactsJSON(t, `{"secrets":{"db":"`+strongSecret+`","type":"`+strongSecret+`"}}`, `{"secrets":{"db":"[redacted:secret]","type":"`+strongSecret+`"}}`)
	redactsJSON(t, `{"name":"DB_PASSWORD","tags":{"a":["b"]},"value":"hunter22"}`, `{"name":"DB_PASSWORD","tags":{"a":["b"]},"value":"[redacted:password]"}`)
	redacts(t, `"secret": {"value": "hunter22"}`, `"secret": {"value": "[redacted:secret]"}`)
	redacts(t, `{\"secret\":{\"value\":\"hunter22\"}}`, `{\"secret\":{\"value\":\"[redacted:secret]\"}}`)
	redacts(t, "\"password\": {\n    \"value\": \"hunter22\"", "\"password\": {\n    \"value\": \"[redacted:password]\"")
	redacts(t, `{"name":"DB_PASSWORD","value":"hunter22"}`, `{"name":"DB_PASSWORD","value":"[redacted:password]"}`)
	redacts(t, "- name: DB_PASSWORD\n  value: hunter22\n", "- name: DB_PASSWORD\n  value: [redacted:password]\n")
	staysJSON(t, `{"token":{"value2":"abc123def"}}`, `{"password":{"type":"string","default":"changeit"}}`, `{"token":{"a":{"value":"hunter22"}}}`,
		`{"secret":{"name":"`+strongSecret+`","path":"a1b2c3d4e5"}}`, `{"secret":{"value":null}}`, `{"password":{"value":"Enter your password"}}`)
	stays(t, `"secret": {"values": "hunter22"}`, "token: {value: tokenValue}", "- name: HOST\n  value: hunter22", "- name: DB_PASSWORD\n  valueFrom: hunter22",
		"label: password\nvalue: ${PASSWORD}", "secret: {value: {value: hunter22}}")
}

func TestTheArgumentAfterAFlagIsASecret(t *testing.T) {
	redactsJSON(t, `["x","--password","hunter22","hunter22"]`, `["x","--password","[redacted:password]","hunter22"]`)
	redactsJSON(t, `{"argv":["--api-key", "correcthorse"],"b":["-token","hunter22"]}`, `{"argv":["--api-key", "[redacted:api-key]"],"b":["-token","[redacted:token]"]}`)
	redactsJSON(t, `["/usr/bin/curl","-s","-u","admin:correcthorse","x"]`, `["/usr/bin/curl","-s","-u","admin:[redacted:password]","x"]`)
	redactsJSON(t, `["mysql","-u","root","-phunter22"]`, `["mysql","-u","root","-p[redacted:password]"]`)
	redactsJSON(t, `["sshpass","-p","hunter22","ssh"]`, `["sshpass","-p","[redacted:password]","ssh"]`)
	redacts(t, `run("x", "--password", "hunter22")`, `run("x", "--password", "[redacted:password]")`)
	redacts(t, `[\"--token\",\"hunter22\"]`, `[\"--token\",\"[redacted:token]\"]`)
	redacts(t, "[\n  \"--password\",\n  \"hunter22\"\n]", "[\n  \"--password\",\n  \"[redacted:password]\"\n]")
	staysJSON(t, `["--password","--verbose","hunter22"]`, `["--password","$DB_PASSWORD"]`, `["--password"]`, `[["--password"],"hunter22"]`,
		`["--password-file","secrets1"]`, `["docker","build","--secret","id=token1,src=a"]`, `["password","hunter22"]`, `["--max-tokens","1234567"]`,
		`["docker","run","-u","node1:node1234","-p","8080:8080"]`, `["mkdir","-p","hunter22"]`, `["-u","admin:hunter22"]`)
	stays(t, `add_argument("--password", "-p", help="x1")`, `add_argument("--password", default="hunter22x")`, `.option("--token", "accessToken")`,
		`flag("--password", "Password of the user")`, `"--secret", "dbSecretName"`, "docker build --secret id=token1,src=a .", `"password", "hunter22"`)
}

func TestAnyOperatorMayGiveAPassword(t *testing.T) {
	for _, op := range []string{"==", ":=", " := ", " => ", "=>", " == ", "=", ": ", " = ", "?=", "==="} {
		redacts(t, "password"+op+strongSecret, "password"+op+"[redacted:password]")
		redacts(t, "x token"+op+strongSecret+"\n", "x token"+op+"[redacted:token]\n")
	}
	redacts(t, "http post x password==hunter22", "http post x password==[redacted:password]")
	redacts(t, "PASSWORD => hunter22", "PASSWORD => [redacted:password]")
	redacts(t, "DB_PASSWORD := hunter22", "DB_PASSWORD := [redacted:password]")
	redacts(t, "API_KEY ?= hunter22", "API_KEY ?= [redacted:api-key]")
	stays(t, "password := input2", "password == other1", "if token == sha256Sum {", "token => value1", "password => validate2(x)", "token := b64x2y3z4()",
		"password=>user.password1", "password == null", "const x = password === oldPassword1", "token := tokens2[0]", "password != expected1", "secret == base64Decode")
}

func TestTripleQuotesHoldASecret(t *testing.T) {
	redacts(t, `token = """`+strongSecret+`"""`, `token = """[redacted:token]"""`)
	redacts(t, `password = '''hunter22'''`, `password = '''[redacted:password]'''`)
	redacts(t, "secret = \"\"\"\nhunter22\n\"\"\"", "secret = \"\"\"\n[redacted:secret]\n\"\"\"")
	redacts(t, `password = \"\"\"hunter22\"\"\"`, `password = \"\"\"[redacted:password]\"\"\"`)
	stays(t, `password = """Reads it from 2 files"""`, `token = """"""`, `token = ""`, "secret = \"\"\"\n  SELECT a1 FROM b2\n\"\"\"", `token = """{{ token1 }}"""`)
}

func TestBracketsAroundAPasswordAreNoCode(t *testing.T) {
	redacts(t, "password=("+strongSecret+")", "password=([redacted:password])")
	redacts(t, "password=["+strongSecret+"]", "password=[[redacted:password]]")
	redacts(t, "password: ["+strongSecret+", abc]", "password: [[redacted:password], abc]")
	redacts(t, `token = ("hunter22")`, `token = ("[redacted:token]")`)
	redacts(t, "DB_PASSWORD=(hunter22)", "DB_PASSWORD=([redacted:password])")
	stays(t, "password=(other1)", "password=[A-Za-z0-9]{8,16}", "token = (await getToken2())", "password: [Validators.required2]", `password: ("Enter your password")`,
		"password: ['', [Validators.minLength(12)]]", "token = [PAD, \"word1234\"]", "password=[redacted]", "password=(getPassword2())", "token: [a-f0-9]{32}", "PASSWORD=(input2.value)")
}

func TestWhatStandsBesideAReferenceIsASecret(t *testing.T) {
	redacts(t, "password=${HOME}x9Abc12345", "password=[redacted:password]")
	redacts(t, `token = "{{ prefix }}`+strongSecret+`"`, `token = "[redacted:token]"`)
	redacts(t, "password=x9Abc12345${SUFFIX}", "password=[redacted:password]")
	redacts(t, "postgres://app:${X}x9Abc12345@db", "postgres://app:[redacted:url-password]@db")
	stays(t, "password=${HOME}", "password=${A}-${B}", "token: `a${b}c1`", `token = "v2_${id}_prefix"`, "password=${HOME}/secret1", "token=${PREFIX}token", "password=${open",
		"postgres://app:${PASS}@db", "password=${{ secrets.A1B2C3D4 }}")
}

func TestAUserOfAURLWhoIsATokenIsASecret(t *testing.T) {
	redacts(t, "https://"+alnum+"@host.test/x", "https://[redacted:url-password]@host.test/x")
	redacts(t, "git clone https://"+hex32+"@git.test", "git clone https://[redacted:url-password]@git.test")
	redacts(t, "https://"+alnum+":x-oauth-basic@git.test", "https://[redacted:url-password]@git.test")
	redacts(t, "https://"+alnum+":@git.test", "https://[redacted:url-password]@git.test")
	redacts(t, "https://ghp_"+alnum+"Abcd@git.test", "https://[redacted:github-pat]@git.test")
	redacts(t, "https://[redacted:github-pat]:hunter22@git.test", "https://[redacted:github-pat]:[redacted:url-password]@git.test")
	stays(t, "ssh://git@github.com/o/r", "https://oauth2@git.test", "https://x-access-token@git.test", "https://john.doe1985@git.test", "https://svc-deploy-2024-prod@git.test",
		"https://continuousintegration@git.test", "https://x.test/@"+alnum, "https://x.test?a="+alnum+"@b", "mailto:"+alnum+"@x.test", "https://deploymentUser2024@git.test")
}

func TestACommandsShortOptionMayTakeAPassword(t *testing.T) {
	redacts(t, "curl -u admin:"+strongSecret+" https://x.test", "curl -u admin:[redacted:password] https://x.test")
	redacts(t, "curl -s -X POST -u 'admin:correct horse' x", "curl -s -X POST -u 'admin:[redacted:password]' x")
	redacts(t, "/usr/bin/curl --user=admin:hunter22 x", "/usr/bin/curl --user=admin:[redacted:password] x")
	redacts(t, "curl \\\n  -uadmin:hunter22", "curl \\\n  -uadmin:[redacted:password]")
	redacts(t, "curl -U a:hunter22 --proxy-user b:hunter22", "curl -U a:[redacted:password] --proxy-user b:[redacted:password]")
	redacts(t, "mysql -u root -p"+strongSecret+" db", "mysql -u root -p[redacted:password] db")
	redacts(t, `$(mysqldump -p"hunter22" db)`, `$(mysqldump -p"[redacted:password]" db)`)
	redacts(t, "sshpass -p hunter22 ssh h", "sshpass -p [redacted:password] ssh h")
	redacts(t, "docker login -u a -p hunter22 r.test", "docker login -u a -p [redacted:password] r.test")
	redacts(t, "redis-cli -a hunter22 ping", "redis-cli -a [redacted:password] ping")
	redacts(t, "ldapsearch -x -w hunter22", "ldapsearch -x -w [redacted:password]")
	stays(t, "mysql -u root -p database1", "mysql -p$MYSQL_PWD", `sshpass -p "$PASS" ssh h`, "curl -u admin x1", "curl -u \"$USER:$PASS\" x", "curl -u ${U}:${P} x",
		"docker run -u 1000:1000 -p 8080:8080 x", "docker run -u node1:node1234 x", "mkdir -p hunter22/x", "curl x; ssh -p hunter22", "curl x | tee -u a:hunter22",
		"curl x\nfoo -u a:hunter22", "mycurl -u a:hunter22", "pip install --user a:hunter22", "curl --user-agent a:hunter22", "git push -u origin:hunter22", "the login page -p", "cp -p hunter22 b")
}

func TestANetrcEntryHoldsAPassword(t *testing.T) {
	redacts(t, "machine h.test login u password correcthorse", "machine h.test login u password [redacted:password]")
	redacts(t, "machine h.test\n\tlogin u\n\tpassword "+strongSecret+"\n", "machine h.test\n\tlogin u\n\tpassword [redacted:password]\n")
	redacts(t, "default login anonymous password hunter22", "default login anonymous password [redacted:password]")
	stays(t, "login with password authentication", "the machine prompts for the password immediately", "password hunter22", "login u passwords hunter22", "login user password required")
}

func TestPasswordsAreCalledManyThings(t *testing.T) {
	for _, name := range []string{"passwort", "Kennwort", "contraseña", "pwd", "PWD", "pass", "db_pass", "DB_PASS", "smtpPass", "GMAIL_PASS", "passcode", "mot_de_passe", "user_passwords"} {
		redacts(t, name+"="+strongSecret, name+"=[redacted:password]")
		redacts(t, name+"=hunter22", name+"=[redacted:password]")
		redactsJSON(t, `{"`+name+`":"hunter22"}`, `{"`+name+`":"[redacted:password]"}`)
	}
	redacts(t, "https://x.test/?user=a&pass=hunter22", "https://x.test/?user=a&pass=[redacted:password]")
	redacts(t, `auth: { user: 'a', pass: 'hunter22' }`, `auth: { user: 'a', pass: '[redacted:password]' }`)
	redacts(t, "tool --pass hunter22", "tool --pass [redacted:password]")
	redacts(t, "pass: "+strongSecret, "pass: [redacted:password]")
	redacts(t, `{"auths":{"r.test":{"auth":"dXNlcjpodW50ZXIyMg=="}}}`, `{"auths":{"r.test":{"auth":"[redacted:auth]"}}}`)
	redacts(t, "//r.test/:_auth=dXNlcjpodW50ZXIyMg==", "//r.test/:_auth=[redacted:auth]")
	stays(t, "--- PASS: TestParser2 (0.01s)", "PASS: internal/x_test2.go", "pass: 1234567, fail: 0", "pass=1234567", "bypass=hunter22", "compass: hunter22", "pass = compile2",
		"render_pass: shadow1", "debug-pass=Structure", `"pass": "12 of 14 tests"`, `{"pass":"every test"}`, "pass: test_foo2", "PWD=/home/dev/x", "auth: required1", "auth = OAuth2",
		"author=hunter22", "basic_auth: hunter22", "auth_mode=sha256x2y3z4")
	staysJSON(t, `{"pass":1234567}`, `{"pass":true,"tests":"hunter22"}`, `{"auth":"basic"}`, `{"status":"pass","name":"hunter22"}`)
}
