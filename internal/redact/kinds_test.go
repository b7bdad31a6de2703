package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The secrets here are made up and put together from parts, so that no scanner
// takes this file for a leak.

const (
	alnum = "Zq8Tn3Wd5Yr1Kc7Vb2Xm9Lp4Gh6Js0Fa" // 32
	hex32 = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
)

type kindCase struct{ rule, secret string }

func prefixKinds() []kindCase {
	long := alnum + alnum + alnum
	hex64 := hex32 + hex32
	return []kindCase{
		{"anthropic-key", "sk-" + "ant-api03-" + alnum},
		{"openai-key", "sk-" + "proj-" + alnum},
		{"openai-key", "sk-" + "svcacct-" + alnum},
		{"openai-key", "sk-" + "admin-" + alnum},
		{"openai-key", "sk-" + alnum + "Ab12"},
		{"openrouter-key", "sk-" + "or-v1-" + hex64},
		{"langsmith-key", "lsv2_" + "pt_" + hex32 + "_1234abcd90"},
		{"langsmith-key", "lsv2_" + "sk_" + hex32 + "_1234abcd90"},
		{"langsmith-key", "ls__" + alnum},
		{"langfuse-key", "sk-" + "lf-0b1f4c2e-1234-4c5d-9abc-1234567890ab"},
		{"huggingface-token", "hf_" + alnum + "Qw"},
		{"groq-key", "gsk_" + long[:52]},
		{"xai-key", "xai-" + long[:80]},
		{"perplexity-key", "pplx-" + long[:48]},
		{"replicate-token", "r8_" + long[:37]},
		{"nvidia-key", "nvapi-" + long[:64]},
		{"tavily-key", "tvly-" + alnum},
		{"pinecone-key", "pcsk_" + long[:64]},
		{"github-pat", "ghp_" + long[:36]},
		{"github-pat", "github_" + "pat_" + long[:22] + "_" + long[:59]},
		{"github-token", "gho_" + long[:36]},
		{"github-token", "ghs_" + long[:36]},
		{"github-token", "ghu_" + long[:36]},
		{"github-token", "ghr_" + long[:36]},
		{"gitlab-token", "glpat-" + alnum[:20]},
		{"gitlab-token", "gldt-" + alnum[:20]},
		{"atlassian-token", "ATATT3" + long[:80] + "=1A2B3C4D"},
		{"npm-token", "npm_" + long[:36]},
		{"pypi-token", "pypi-" + "AgEIcHlwaS" + long[:60]},
		{"rubygems-key", "rubygems_" + hex32 + hex32[:16]},
		{"docker-token", "dckr_pat_" + long[:27]},
		{"clojars-token", "CLOJARS_" + hex32 + hex32[:28]},
		{"circleci-token", "CCIPAT_" + long[:40]},
		{"buildkite-token", "bkua_" + hex32 + hex32[:8]},
		{"pulumi-token", "pul-" + hex32 + hex32[:8]},
		{"terraform-token", ".atlasv1." + long[:67]},
		{"postman-key", "PMAK-" + hex32[:24] + "-" + hex32 + "ab"},
		{"figma-token", "figd_" + long[:40]},
		{"linear-key", "lin_api_" + long[:40]},
		{"notion-token", "ntn_" + long[:46]},
		{"aws-access-key-id", "AKIA" + "QYLPMN5HHHFPZAM2"},
		{"aws-access-key-id", "ASIA" + "QYLPMN5HHHFPZAM2"},
		{"google-key", "AIza" + "SyA-" + long[:31]},
		{"google-oauth-token", "ya29." + "a0Af_" + alnum},
		{"google-oauth-secret", "GOCSPX-" + long[:28]},
		{"alibaba-key-id", "LTAI" + long[:20]},
		{"digitalocean-token", "dop_v1_" + hex64},
		{"heroku-key", "HRKU-" + long[:60]},
		{"netlify-token", "nfp_" + long[:36]},
		{"fly-token", "fm2_" + long[:80]},
		{"supabase-token", "sbp_" + hex32 + hex32[:8]},
		{"planetscale-token", "pscale_tkn_" + long[:43]},
		{"databricks-token", "dapi" + hex32},
		{"vault-token", "hvs." + long[:90]},
		{"doppler-token", "dp.pt." + long[:43]},
		{"tailscale-key", "tskey-auth-" + long[:30]},
		{"onepassword-token", "ops_eyJ" + long + alnum},
		{"age-secret-key", "AGE-SECRET-KEY-1" + strings.ToUpper(long[:58])},
		{"newrelic-key", "NRAK-" + strings.ToUpper(alnum[:27])},
		{"sentry-token", "sntryu_" + hex64},
		{"grafana-token", "glsa_" + alnum + "_12ab34cd"},
		{"slack-token", "xoxb-" + "123456789012-123456789012-" + alnum[:24]},
		{"slack-token", "xapp-" + "1-A0123456789-1234567890123-" + hex32},
		{"sendgrid-key", "SG." + alnum[:22] + "." + long[:43]},
		{"brevo-key", "xkeysib-" + hex64 + "-" + alnum[:16]},
		{"mailgun-key", "key-" + hex32},
		{"twilio-key", "SK" + hex32},
		{"stripe-key", "sk_" + "live_" + alnum},
		{"stripe-key", "rk_" + "test_" + alnum},
		{"stripe-webhook-secret", "whsec_" + alnum},
		{"square-token", "sq0atp-" + alnum[:22]},
		{"shopify-token", "shpat_" + hex32},
		{"sourcegraph-token", "sgp_" + hex32[:16] + "_" + hex32 + hex32[:8]},
		{"teams-webhook", ".webhook.office.com/webhookb2/0b1f4c2e-1234-4c5d-9abc-1234567890ab@0b1f4c2e-1234-4c5d-9abc-1234567890ab/IncomingWebhook/" + hex32 + "/0b1f4c2e-1234-4c5d-9abc-1234567890ab"},
		{"private-key", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt" + long},
		{"private-key", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0t" + long + "=="},
		{"jwt", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + alnum},
		{"private-key", pem("RSA PRIVATE KEY")},
		{"private-key", pem("PRIVATE KEY")},
		{"private-key", pem("OPENSSH PRIVATE KEY")},
		{"private-key", pem("PGP PRIVATE KEY BLOCK")},
	}
}

// rarerKinds are those that the hook does not look for.
func rarerKinds() []kindCase {
	long := alnum + alnum + alnum
	return []kindCase{
		{"azure-client-secret", "abc8Q~" + long[:34]},
		{"airtable-token", "pat" + alnum[:14] + "." + hex32 + hex32},
		{"maxmind-license-key", "Ab1x9Z_" + alnum[:29] + "_mmk"},
	}
}

func TestWhatTheHookLeavesTheFullPassFinds(t *testing.T) {
	for _, c := range rarerKinds() {
		for _, around := range surroundings {
			redacts(t, fmt.Sprintf(around, c.secret), fmt.Sprintf(around, mark(c.rule)))
		}
	}
}

func pem(label string) string {
	return "-----BEGIN " + label + "-----\n" + alnum + alnum + "\n" + alnum + "\n-----END " + label + "-----"
}

func mark(rule string) string { return "[redacted:" + rule + "]" }

// surroundings are the places a token turns up in.
var surroundings = []string{
	"%s", "see %s.", "a=%s", `x="%s"`, "\n%s\n", "(%s)", "+%s", "echo '%s' | sh", "<%s>", "tab\t%s\ttab", "a,%s,b",
}

func TestATokenIsReplacedByItsRuleWhereverItStands(t *testing.T) {
	for _, c := range prefixKinds() {
		for _, around := range surroundings {
			text := fmt.Sprintf(around, c.secret)
			if got, want := Text(text), fmt.Sprintf(around, mark(c.rule)); got != want {
				t.Errorf("Text(%q)\n got %q\nwant %q", text, got, want)
			}
			doc, err := json.Marshal(map[string]any{"n": 1, "text": text, c.secret: true})
			if err != nil {
				t.Fatal(err)
			}
			wantDoc, err := json.Marshal(map[string]any{"n": 1, "text": fmt.Sprintf(around, mark(c.rule)), mark(c.rule): true})
			if err != nil {
				t.Fatal(err)
			}
			for name, pass := range map[string]func([]byte) ([]byte, error){"Fast": Fast, "JSON": fullPass} {
				got, err := pass(doc)
				if err != nil {
					t.Fatal(err)
				}
				if !sameJSON(t, got, wantDoc) {
					t.Errorf("%s(%s)\n got %s\nwant %s", name, doc, got, wantDoc)
				}
			}
		}
	}
}

func TestNoKeywordIsTooShortForTheGate(t *testing.T) {
	for _, k := range newFull().words[1:] {
		if len(k.text) < gram {
			t.Errorf("%q", k.text)
		}
	}
}

func TestATokenBehindManyBeginningsIsFound(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + alnum
	for _, between := range []string{"", " ", "-", "=", "\n"} {
		for n := 900; n < 3200; n += 370 {
			if got := Text(strings.Repeat("eyJ-", n) + between + jwt + " end"); strings.Contains(got, alnum) || !strings.HasSuffix(got, " end") {
				t.Errorf("%d beginnings and %q: it is left", n, between)
			}
		}
	}
}

func TestTheHeadOfARuleTakesItsKeywords(t *testing.T) {
	for i := range tokens {
		headTakesKeywords(t, &tokens[i])
	}
	for i := range rarer {
		headTakesKeywords(t, &rarer[i])
	}
}

func headTakesKeywords(t *testing.T, r *rule) {
	t.Helper()
	sets := head(r.pattern)
	if len(sets) <= gram {
		t.Errorf("%s: the head has %d bytes", r.name, len(sets))
	}
	for _, word := range r.keywords {
		for i := range min(len(word), len(sets)-r.back) {
			if !sets[r.back+i][word[i]] {
				t.Errorf("%s: the head does not take %q", r.name, word)
			}
		}
	}
	if sets[0]['!'] {
		t.Errorf("%s: the head takes anything", r.name)
	}
}

func fullPass(doc []byte) ([]byte, error) { return JSON(doc) }

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}
