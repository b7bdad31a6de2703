package plant

import "strings"

// Kind is a kind of secret that is told by how it begins.
type Kind struct {
	Name     string
	Template string // for [Drawer.Fill]
}

// Prefixed lists them: no text stands here in one piece, so that no scanner takes the
// list for a leak.
func Prefixed() []Kind {
	var list []Kind
	for _, line := range strings.Split(strings.TrimSpace(templates), "\n") {
		name, template, _ := strings.Cut(strings.TrimSpace(line), " ")
		list = append(list, Kind{name, strings.ReplaceAll(strings.TrimSpace(template), "^", "")})
	}
	return append(list,
		Kind{"pem-rsa", pem("RSA PRIVATE KEY")}, Kind{"pem-pkcs8", pem("PRIVATE KEY")}, Kind{"pem-ec", pem("EC PRIVATE KEY")},
		Kind{"pem-openssh", pem("OPENSSH PRIVATE KEY")}, Kind{"pem-pgp", pem("PGP PRIVATE KEY BLOCK")},
	)
}

func pem(label string) string {
	return "-----BEGIN " + label + "-----\nMII{61b}\n{64b}\n{64b}\n{31b}x\n-----END " + label + "-----"
}

// templates has a kind in each line; a ^ is taken out.
const templates = `
anthropic        sk-^ant-api03-{93w}AA
anthropic-admin  sk-^ant-admin01-{93w}AA
openai-project   sk-^proj-{74w}T3BlbkFJ{74w}
openai-service   sk-^svcacct-{58w}T3BlbkFJ{58w}
openai-legacy    sk-^{20a}T3BlbkFJ{20a}
openrouter       sk-^or-v1-{64h}
langsmith-pat    lsv2_^pt_{32h}_{10h}
langsmith-sk     lsv2_^sk_{32h}_{10h}
langfuse         sk-^lf-{8h}-{4h}-{4h}-{4h}-{12h}
huggingface      hf_^{34a}
groq             gsk_^{52a}
xai              xai-^{80a}
perplexity       pplx-^{48a}
replicate        r8_^{37a}
nvidia           nvapi-^{64w}
tavily           tvly-^{32a}
pinecone         pcsk_^{5a}_{60a}
github-classic   ghp_^{36a}
github-fine      github_^pat_{22a}_{59a}
github-oauth     gho_^{36a}
github-app       ghs_^{36a}
github-user      ghu_^{36a}
github-refresh   ghr_^{76a}
gitlab-pat       glpat-^{20w}
gitlab-deploy    gldt-^{20w}
gitlab-runner    glrt-^{20w}
gitlab-feed      glft-^{20w}
gitlab-oauth     gloas-^{64w}
gitlab-mail      glimt-^{25w}
atlassian        ATATT^3{186w}
npm              npm_^{36a}
pypi             pypi-^AgEIcHlwaS5vcmc{80w}
rubygems         rubygems_^{48h}
docker           dckr_pat_^{27w}
clojars          CLOJARS_^{60l}
circleci         CCIPAT_^{22a}_{40h}
buildkite        bkua_^{40h}
pulumi           pul-^{40h}
terraform        {14a}.atlasv1^.{67w}
postman          PMAK-^{24h}-{34h}
figma            figd_^{40w}
linear           lin_api_^{40a}
notion           ntn_^{11d}{35a}
airtable         pat^{14a}.{64h}
sourcegraph      sgp_^{16h}_{40h}
aws-key-id       AKIA^{163}
aws-session-id   ASIA^{163}
aws-bedrock      ABSK^{120b}
google-api       AIza^{35w}
google-oauth     ya29^.{60w}
google-secret    GOCSPX-^{28w}
azure-secret     {3a}8Q^~{34a}
alibaba          LTAI^{20a}
digitalocean-pat dop_v1_^{64h}
digitalocean-oa  doo_v1_^{64h}
heroku           HRKU-AA^{58w}
netlify          nfp_^{40a}
fly              fm2_^{120b}
supabase         sbp_^{40h}
planetscale-tkn  pscale_tkn_^{43w}
planetscale-pw   pscale_pw_^{43w}
databricks       dapi^{32h}
vault            hvs.^{90w}
doppler          dp.pt.^{43a}
tailscale        tskey-auth-^{12a}-{32a}
onepassword      ops_eyJ^{252a}
onepassword-key  A3-^{6u}-{11u}-{5u}-{5u}-{5u}
age              AGE-SECRET-KEY-1^{58u}
newrelic         NRAK-^{27u}
newrelic-insert  NRII-^{32a}
sentry           sntryu_^{64h}
grafana          glsa_^{32a}_{8h}
grafana-cloud    glc_eyJ^{80b}
dynatrace        dt0c01^.{24u}.{64u}
slack-bot        xoxb-^{12d}-{12d}-{24a}
slack-user       xoxp-^{12d}-{12d}-{12d}-{32h}
slack-app        xapp-^1-A{10u}-{13d}-{64h}
slack-webhook    hooks.slack.com^/services/T{10u}/B{10u}/{24a}
discord-webhook  discord.com^/api/webhooks/{18d}/{68w}
teams-webhook    x.webhook.office.com^/webhookb2/{8h}-{4h}-{4h}-{4h}-{12h}@{8h}-{4h}-{4h}-{4h}-{12h}/IncomingWebhook/{32h}/{8h}-{4h}-{4h}-{4h}-{12h}
sendgrid         SG.^{22w}.{43w}
brevo            xkeysib-^{64h}-{16a}
mailgun          key-^{32h}
twilio           SK^{32h}
stripe-live      sk_live_^{24a}
stripe-test      sk_test_^{99a}
stripe-limited   rk_live_^{24a}
stripe-webhook   whsec_^{32a}
square           sq0atp-^{22w}
shopify          shpat_^{32h}
shippo           shippo_live_^{40h}
duffel           duffel_live_^{43w}
easypost         EZAK^{54a}
readme           rdme_^{70l}
prefect          pnu_^{36a}
infracost        ico-^{32a}
octopus          API-^{26u}
openshift        sha256^~{43w}
typeform         tfp_^{59a}
harness          pat.^{22a}.{24a}.{20a}
maxmind          {6a}_{29a}_^mmk
scalingo         tk-us-^{48w}
artifactory      AKCp^{69a}
settlemint       sm_pat_^{16a}
jwt              eyJhbGciOiJIUzI1NiJ9^.eyJ{60w}.{43w}
pem-base64       LS0tLS1CRUdJTi^BSU0EgUFJJVkFURSBLRVktLS0tLQ{120b}
`
