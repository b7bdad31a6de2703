package redact

import (
	"regexp"
	"sync"
)

// rule finds one kind of token by the text it starts with.
type rule struct {
	name     string   // as it stands in the marker
	keywords []string // a token starts with one of these, in exactly these letters
	pattern  string   // RE2, matched where a keyword begins
	word     bool     // only at the start of a word: the keyword is short or common
	back     int      // bytes of a token before its keyword
	strict   bool     // the pattern says it all: no word goes on after a match
	entropy  float64  // what a match has at least, in bits for each byte

	first    sync.Once
	head     []byteSet // what a match can begin with
	then     sync.Once
	start    *regexp.Regexp // the pattern at the start of a text
	anywhere *regexp.Regexp // and anywhere in it
}

const (
	// maxToken is the longest token that is found for certain: a pattern looks at
	// twice as much, and then knows of all that start in the first half.
	maxToken = 4 << 10
	// shortToken is what it looks at first: a pattern takes time by the length of
	// the text, even where it fails at once.
	shortToken = 256
	// exactToken is more than the longest token that a strict rule has a length for.
	exactToken = 768
)

// match returns where the token that starts at from ends; from if there is none.
// A match takes in the rest of the word: no tail of a longer secret stays behind.
// barren is where the rule matches nothing before, and comes back with what this
// call learned: a long run of beginnings is looked through once, not from each.
func (r *rule) match(b []byte, from, barren int) (to, nothing int) {
	if from < barren || r.word && (!startsWord(b, from) || inBlob(b, from)) {
		return from, barren
	}
	r.first.Do(func() { r.head = head(r.pattern) })
	for i := range r.head {
		if from+i == len(b) || !r.head[i][b[from+i]] {
			return from, barren
		}
	}
	r.then.Do(func() {
		r.start = regexp.MustCompile(`^(?:` + r.pattern + `)`)
		r.anywhere = regexp.MustCompile(r.pattern)
	})
	if r.strict {
		return r.exact(b, from), barren
	}
	text := b[from:min(len(b), from+shortToken)]
	loc := r.start.FindIndex(text)
	if (loc == nil || loc[1] == len(text)) && skip(text, 0, len(text), inToken) == shortToken {
		loc = r.anywhere.FindIndex(b[from:min(len(b), from+2*maxToken)])
		switch {
		case loc == nil:
			return from, from + maxToken
		case loc[0] > 0:
			return from, from + min(loc[0], maxToken)
		}
	}
	if loc == nil || loc[1] == 0 {
		return from, barren
	}
	to = from + loc[1]
	for to < len(b) && (isWord(b[to]) || b[to] == '-') {
		to++
	}
	return to, barren
}

// exact returns where the token of a strict rule ends that starts at from; from if
// there is none.
func (r *rule) exact(b []byte, from int) int {
	text := b[from:min(len(b), from+exactToken)]
	loc := r.start.FindIndex(text)
	if loc == nil {
		return from
	}
	to := from + loc[1]
	if r.entropy > 0 && entropy(b[from:to]) < r.entropy {
		return from
	}
	if loc[1] == len(text) {
		return skip(b, to, len(b), inToken) // it may be longer
	}
	if to < len(b) && isWord(b[to]) {
		return from
	}
	return to
}

// inToken reports whether c may stand in a token of any rule.
func inToken(c byte) bool { return isToken(c) || c == '=' || c == '\\' }

// tokens are the rules for what a prefix gives away, which the hook has too. The
// patterns are our own, after what the providers publish of their formats.
var tokens = [...]rule{
	// Model providers and the tools around them.
	{name: "anthropic-key", keywords: []string{"sk-ant-"}, pattern: `sk-ant-[\w-]{20,}`},
	{name: "openai-key", keywords: []string{"sk-proj-", "sk-svcacct-", "sk-admin-"}, pattern: `sk-(?:proj|svcacct|admin)-[\w-]{20,}`},
	{name: "openrouter-key", keywords: []string{"sk-or-"}, pattern: `sk-or-(?:v1-)?[0-9a-f]{32,}`},
	{name: "openai-key", keywords: []string{"sk-"}, pattern: `sk-[0-9A-Za-z]{32,}`, word: true},
	{name: "langsmith-key", keywords: []string{"lsv2_"}, pattern: `lsv2_(?:pt|sk)_[0-9A-Za-z]{32,}(?:_[0-9A-Za-z]+)*`},
	{name: "langsmith-key", keywords: []string{"ls__"}, pattern: `ls__[0-9A-Za-z]{16,}`, word: true},
	{name: "langfuse-key", keywords: []string{"sk-lf-"}, pattern: `sk-lf-[0-9a-f-]{36}`},
	{name: "huggingface-token", keywords: []string{"hf_"}, pattern: `hf_[0-9A-Za-z]{30,}`, word: true},
	{name: "groq-key", keywords: []string{"gsk_"}, pattern: `gsk_[0-9A-Za-z]{40,}`, word: true},
	{name: "xai-key", keywords: []string{"xai-"}, pattern: `xai-[0-9A-Za-z]{60,}`, word: true},
	{name: "perplexity-key", keywords: []string{"pplx-"}, pattern: `pplx-[0-9A-Za-z]{40,}`, word: true},
	{name: "replicate-token", keywords: []string{"r8_"}, pattern: `r8_[0-9A-Za-z]{37}`, word: true},
	{name: "nvidia-key", keywords: []string{"nvapi-"}, pattern: `nvapi-[\w-]{40,}`, word: true},
	{name: "tavily-key", keywords: []string{"tvly-"}, pattern: `tvly-[\w-]{20,}`, word: true},
	{name: "pinecone-key", keywords: []string{"pcsk_"}, pattern: `pcsk_\w{40,}`, word: true},

	// Code hosting, packages, builds.
	{name: "github-pat", keywords: []string{"ghp_"}, pattern: `ghp_[0-9A-Za-z]{36,}`},
	{name: "github-pat", keywords: []string{"github_pat_"}, pattern: `github_pat_\w{22,}`},
	{name: "github-token", keywords: []string{"gho_", "ghs_", "ghu_", "ghr_"}, pattern: `gh[osur]_[0-9A-Za-z]{36,}`},
	{name: "gitlab-token", keywords: []string{"glpat-", "gldt-", "glrt-", "glptt-", "glft-", "glsoat-", "glcbt-", "glagent-"}, pattern: `gl(?:pat|dt|rt|ptt|ft|soat|cbt|agent)-[\w-]{20,}`},
	{name: "atlassian-token", keywords: []string{"ATATT3", "ATCTT3"}, pattern: `AT[AC]TT3[\w=-]{60,}`},
	{name: "npm-token", keywords: []string{"npm_"}, pattern: `npm_[0-9A-Za-z]{36}`, word: true},
	{name: "pypi-token", keywords: []string{"pypi-AgE"}, pattern: `pypi-AgEIcHlwaS[\w-]{50,}`},
	{name: "rubygems-key", keywords: []string{"rubygems_"}, pattern: `rubygems_[0-9a-f]{48}`},
	{name: "docker-token", keywords: []string{"dckr_pat_"}, pattern: `dckr_pat_[\w-]{27,}`},
	{name: "clojars-token", keywords: []string{"CLOJARS_"}, pattern: `CLOJARS_[0-9a-z]{60}`},
	{name: "circleci-token", keywords: []string{"CCIPAT_"}, pattern: `CCIPAT_\w{30,}`},
	{name: "buildkite-token", keywords: []string{"bkua_"}, pattern: `bkua_[0-9a-f]{40}`},
	{name: "pulumi-token", keywords: []string{"pul-"}, pattern: `pul-[0-9a-f]{40}`, word: true},
	{name: "terraform-token", keywords: []string{".atlasv1."}, pattern: `\.atlasv1\.[\w-]{60,}`},
	{name: "postman-key", keywords: []string{"PMAK-"}, pattern: `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`},
	{name: "figma-token", keywords: []string{"figd_"}, pattern: `figd_[\w-]{40}`, word: true},
	{name: "linear-key", keywords: []string{"lin_api_"}, pattern: `lin_api_[0-9A-Za-z]{40}`},
	{name: "sourcegraph-token", keywords: []string{"sgp_"}, pattern: `sgp_(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}`, word: true},
	{name: "notion-token", keywords: []string{"ntn_"}, pattern: `ntn_[0-9A-Za-z]{40,}`, word: true},

	// Clouds and hosting.
	{name: "aws-access-key-id", keywords: []string{"AKIA", "ASIA", "ABIA", "ACCA", "A3T"}, pattern: `(?:A3T[0-9A-Z]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}\b`, word: true},
	{name: "google-key", keywords: []string{"AIza"}, pattern: `AIza[\w-]{35}`, word: true},
	{name: "google-oauth-token", keywords: []string{"ya29."}, pattern: `ya29\.[\w-]{10,}`, word: true},
	{name: "google-oauth-secret", keywords: []string{"GOCSPX-"}, pattern: `GOCSPX-[\w-]{20,}`},
	{name: "alibaba-key-id", keywords: []string{"LTAI"}, pattern: `LTAI[0-9A-Za-z]{20}\b`, word: true},
	{name: "digitalocean-token", keywords: []string{"dop_v1_", "doo_v1_", "dor_v1_"}, pattern: `do[opr]_v1_[0-9a-f]{64}`},
	{name: "heroku-key", keywords: []string{"HRKU-"}, pattern: `HRKU-[\w-]{36,}`},
	{name: "netlify-token", keywords: []string{"nfp_"}, pattern: `nfp_[0-9A-Za-z]{36,}`, word: true},
	{name: "fly-token", keywords: []string{"fm2_", "fm1r_", "fm1a_"}, pattern: `fm(?:2|1r|1a)_[\w+/=-]{60,}`, word: true},
	{name: "supabase-token", keywords: []string{"sbp_", "sb_secret_"}, pattern: `(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,})`, word: true},
	{name: "planetscale-token", keywords: []string{"pscale_"}, pattern: `pscale_(?:tkn|pw|oauth)_[\w.-]{31,}\w`},
	{name: "databricks-token", keywords: []string{"dapi"}, pattern: `dapi[0-9a-f]{32}`, word: true},
	{name: "vault-token", keywords: []string{"hvs.", "hvb."}, pattern: `hv[sb]\.[\w-]{24,}`, word: true},
	{name: "doppler-token", keywords: []string{"dp.pt.", "dp.st.", "dp.ct."}, pattern: `dp\.[psc]t\.(?:\w+\.)?[0-9A-Za-z]{40,}`, word: true},
	{name: "tailscale-key", keywords: []string{"tskey-"}, pattern: `tskey-[a-z]+-[\w-]{16,}`},
	{name: "onepassword-token", keywords: []string{"ops_eyJ"}, pattern: `ops_eyJ[\w+/=-]{100,}`},
	{name: "age-secret-key", keywords: []string{"AGE-SECRET-KEY-1"}, pattern: `AGE-SECRET-KEY-1[0-9A-Z]{58}`},

	// Watching, messaging, paying.
	{name: "newrelic-key", keywords: []string{"NRAK-"}, pattern: `NRAK-[0-9A-Z]{27}`},
	{name: "sentry-token", keywords: []string{"sntrys_", "sntryu_"}, pattern: `sntry(?:s_eyJ[\w+/=-]{60,}|u_[0-9a-f]{64})`},
	{name: "grafana-token", keywords: []string{"glsa_", "glc_eyJ"}, pattern: `(?:glsa_[0-9A-Za-z]{32}_[0-9a-f]{8}|glc_eyJ[\w+/=-]{40,})`},
	{name: "slack-token", keywords: []string{"xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-"}, pattern: `xox[abeprs]-[0-9A-Za-z-]{10,}`},
	{name: "slack-token", keywords: []string{"xapp-"}, pattern: `xapp-\d-[0-9A-Za-z-]{10,}`},
	{name: "slack-webhook", keywords: []string{"hooks.slack.com"}, pattern: `hooks\.slack\.com(?:\\?/(?:services|workflows|triggers))(?:\\?/\w+)+`},
	{name: "discord-webhook", keywords: []string{"discord.com", "discordapp.com"}, pattern: `discord(?:app)?\.com\\?/api\\?/webhooks\\?/\d+\\?/[\w-]{30,}`},
	{name: "sendgrid-key", keywords: []string{"SG."}, pattern: `SG\.[\w-]{22}\.[\w-]{43}`, word: true},
	{name: "brevo-key", keywords: []string{"xkeysib-"}, pattern: `xkeysib-[0-9a-f]{64}-[0-9A-Za-z]{16}`},
	{name: "mailgun-key", keywords: []string{"key-"}, pattern: `key-[0-9a-f]{32}\b`, word: true},
	{name: "twilio-key", keywords: []string{"SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf"}, pattern: `SK[0-9a-f]{32}\b`, word: true},
	{name: "stripe-key", keywords: []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_"}, pattern: `[rs]k_(?:live|test)_[0-9A-Za-z]{20,}`, word: true},
	{name: "stripe-webhook-secret", keywords: []string{"whsec_"}, pattern: `whsec_[0-9A-Za-z+/=]{24,}`, word: true},
	{name: "square-token", keywords: []string{"sq0atp-", "sq0csp-"}, pattern: `sq0(?:atp|csp)-[\w-]{22,}`},
	{name: "shopify-token", keywords: []string{"shpat_", "shpca_", "shppa_", "shpss_"}, pattern: `shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}`},

	{name: "teams-webhook", keywords: []string{".webhook.office.com"}, pattern: `\.webhook\.office\.com\\?/webhookb2\\?/[\w@-]+(?:\\?/[\w-]+)+`},
	{name: "private-key", keywords: []string{"LS0tLS1CRUdJTi"}, pattern: `LS0tLS1CRUdJTi(?:BQUklWQVRFIEtFWS|BSU0EgUFJJVkFURSBLRVkt|BFQyBQUklWQVRFIEtFWS|BEU0EgUFJJVkFURSBLRVkt|BPUEVOU1NIIFBSSVZBVEUgS0VZ|BFTkNSWVBURUQgUFJJVkFURSBLRVkt|BQR1AgUFJJVkFURSBLRVkgQkxPQ0)[0-9A-Za-z+/]*=*`},
	{name: "jwt", keywords: []string{"eyJ"}, pattern: `eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}`, word: true},
}
