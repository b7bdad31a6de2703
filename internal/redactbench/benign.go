package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracesmith/tracesmith/internal/redactbench/plant"
)

// text is one of the benign corpus.
type text struct{ name, body string }

// generated are texts full of what looks drawn and is no secret.
func generated(d plant.Drawer) []text {
	many := func(n int, line func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i))
		}
		return b.String()
	}
	name := func() string { return words[d.IntN(len(words))] + "-" + words[d.IntN(len(words))] }
	version := func() string { return d.Fill("{1d}.{2d}.{1d}") }
	uuid := func() string { return d.Fill("{8h}-{4h}-4{3h}-a{3h}-{12h}") }
	return []text{
		{"package-lock.json", many(1500, func(int) string {
			n := name()
			return fmt.Sprintf("    \"node_modules/%s\": {\n      \"version\": \"%s\",\n      \"resolved\": \"https://registry.example.com/%s/-/%s-%s.tgz\",\n      \"integrity\": \"sha512-%s==\",\n      \"license\": \"MIT\"\n    },\n", n, version(), n, n, version(), d.Of(86, "b"))
		})},
		{"yarn.lock", many(1000, func(int) string {
			n := name()
			return fmt.Sprintf("%s@^%s:\n  version \"%s\"\n  resolved \"https://registry.yarnpkg.com/%s/-/%s-%s.tgz#%s\"\n  integrity sha512-%s==\n\n", n, version(), version(), n, n, version(), d.Of(40, "h"), d.Of(86, "b"))
		})},
		{"go.sum", many(1500, func(int) string {
			return fmt.Sprintf("github.com/%s/%s v%s h1:%s=\n", vendors[d.IntN(len(vendors))], name(), version(), d.Of(43, "b"))
		})},
		{"Cargo.lock", many(800, func(int) string {
			return fmt.Sprintf("[[package]]\nname = \"%s\"\nversion = \"%s\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"%s\"\n\n", name(), version(), d.Of(64, "h"))
		})},
		{"requirements.txt", many(800, func(int) string {
			return fmt.Sprintf("%s==%s \\\n    --hash=sha256:%s\n", name(), version(), d.Of(64, "h"))
		})},
		{"git-log", many(1500, func(int) string {
			return fmt.Sprintf("commit %s\nAuthor: Dev <dev@example.test>\nDate:   Mon Nov 30 2026\n\n    %s\n\n", d.Of(40, "h"), prose(d, 9))
		})},
		{"git-diff-index", many(800, func(int) string {
			return fmt.Sprintf(":100644 100644 %s %s M\tsrc/%s.go\nindex %s..%s 100644\n", d.Of(40, "h"), d.Of(40, "h"), name(), d.Of(7, "h"), d.Of(7, "h"))
		})},
		{"ids.jsonl", many(1500, func(i int) string {
			return fmt.Sprintf(`{"id":"%s","trace_id":"%s","session_id":"%s","parent":"toolu_%s","n":%d,"input_tokens":%d,"etag":"%s"}`+"\n", uuid(), uuid(), uuid(), d.Of(24, "a"), i, d.IntN(1<<20), d.Of(32, "h"))
		})},
		{"workflow.yml", many(600, func(int) string {
			return fmt.Sprintf("      - uses: %s/%s@%s # v%s\n        with:\n          token: ${{ secrets.GITHUB_TOKEN }}\n", vendors[d.IntN(len(vendors))], name(), d.Of(40, "h"), version())
		})},
		{"images", many(600, func(int) string {
			return fmt.Sprintf("docker.io/%s/%s@sha256:%s\n%s   %s   %d MB\n", vendors[d.IntN(len(vendors))], name(), d.Of(64, "h"), name(), d.Of(12, "h"), d.IntN(900))
		})},
		{"minified.js", many(900, func(i int) string {
			return fmt.Sprintf("function %s(e,t){var n=e.token||t.password,r=e.key;return n?%s(n,r):{key:r,token:n,secret:t.s,auth:e.a,sk:%d}}var %s=\"%s\",", d.Of(2, "a"), d.Of(2, "a"), i, d.Of(3, "a"), words[d.IntN(len(words))])
		})},
		{"source-map", "{\"version\":3,\"mappings\":\"" + many(3000, func(int) string { return d.Of(4, "a") + "," + d.Of(5, "a") + ";" }) + "\"}"},
		{"base64", "data:image/png;base64," + d.Of(200_000, "b") + "\n"},
		{"base64-lines", many(2000, func(int) string { return d.Of(76, "b") + "\n" })},
		{"hexdump", many(2000, func(i int) string {
			return fmt.Sprintf("%08x  %s %s  |%s|\n", i*16, d.Fill("{2h} {2h} {2h} {2h} {2h} {2h} {2h} {2h}"), d.Fill("{2h} {2h} {2h} {2h}"), d.Of(12, "a"))
		})},
		{"manifest.yaml", many(600, func(int) string {
			return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s-%s\n  uid: %s\nspec:\n  serviceAccountName: %s\n  containers:\n  - env:\n    - name: DB_PASSWORD\n      valueFrom:\n        secretKeyRef: {name: %s, key: password}\n", name(), d.Of(5, "l"), uuid(), name(), name())
		})},
		{"prose", prose(d, 40_000)},
		{"log", log(d, 3000)},
	}
}

var vendors = []string{"cloudflare", "getsentry", "datadog", "hashicorp", "slack-go", "stripe", "twilio", "netlify", "okta", "discord", "dropbox", "linear"}

var words = strings.Fields(`the a key token secret of password build parser request is are must be handler when empty file
 widget server test returns user login session access before after error value config deploy change cache index retry
 queue reader stream never always authorization bearer basic api client service private public account signing license
 lexer commit branch release policy window buffer header cookie column schema record bucket region cluster`)

// prose is a text of n words, with sentences about secrets in it.
func prose(d plant.Drawer, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(" \n"[(i%14+1)/14])
		}
		b.WriteString(words[d.IntN(len(words))])
		if i%9 == 8 {
			b.WriteString([]string{".", ",", ":", "?", ";"}[d.IntN(5)])
		}
	}
	return b.String()
}

// log is what a server writes: times, ids, addresses, tokens counted.
func log(d plant.Drawer, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "2026-11-30T12:%02d:%02dZ INFO request_id=%s path=/v1/%s status=200 input_tokens=%d addr=10.0.%d.%d:8080 sha=%s\n",
			i/60%60, i%60, d.Fill("{8h}-{4h}-4{3h}-a{3h}-{12h}"), words[d.IntN(len(words))], d.IntN(1<<20), d.IntN(256), d.IntN(256), d.Of(40, "h"))
	}
	return b.String()
}

// madeUp are the folders and endings of files that hold made-up secrets on purpose.
var madeUp = []string{"internal/redact/", "internal/redactbench/", "_test.go", ".txtar", "26-numbers-timestamps-rawevent/", "/secret/", "-secret/", "/secrets/"}

// repository reads this repository's sources, notes and recordings.
func repository(root string) (all []text, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			if name != "." && strings.HasPrefix(entry.Name(), ".git") || entry.Name() == "node_modules" || name == "e2e/logs" {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || holdsSecrets(name) {
			return nil
		}
		switch filepath.Ext(name) {
		case ".go", ".md", ".json", ".jsonl", ".sum", ".toml", ".yml", ".yaml", ".txtar", ".js", ".ts", ".html", ".css":
		default:
			return nil
		}
		body, err := os.ReadFile(path)
		all = append(all, text{name, string(body)})
		return err
	})
	return all, err
}

func holdsSecrets(name string) bool {
	for _, part := range madeUp {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
