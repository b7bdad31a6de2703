package redact

import "bytes"

const (
	// maxManifest bounds how far from a manifest's values the word is looked for that
	// says that they are a Secret's.
	maxManifest = 4 << 10
	// minData is the shortest value of a Secret that is one.
	minData = 4
)

// manifest appends the values of a Kubernetes Secret in YAML, whose data: ends at at.
// They are secrets whatever their names are.
func manifest(b []byte, at int, out []span) []span {
	if b[at-2] == '"' {
		return members(b, at, out[:0])
	}
	rest := skip(b, at, maxGap, isBlank)
	rest = skip(b, rest, 1, func(c byte) bool { return c == '\r' })
	if rest == len(b) || b[rest] != '\n' || !secretNear(b, at) {
		return nil
	}
	outer, key := indentation(b, lineStart(b, at))
	if word := b[key:at]; string(word) != "data:" && string(word) != "stringData:" {
		return nil
	}
	block := -1 // the indentation of a key whose value is the lines below it
	out = out[:0]
	for line := rest + 1; line < len(b); line = nextLine(b, line) {
		indent, from := indentation(b, line)
		to := lineEnd(b, from)
		switch {
		case from == to:
			continue
		case indent <= outer:
			return out
		case block >= 0 && indent > block:
			out = dataValue(b, from, to, out)
			continue
		}
		block = -1
		colon := bytes.IndexByte(b[from:to], ':')
		if colon < 0 {
			return out
		}
		from = skip(b, from+colon+1, maxGap, isBlank)
		if from < to && (b[from] == '|' || b[from] == '>') {
			block = indent
			continue
		}
		out = dataValue(b, from, to, out)
	}
	return out
}

// members appends the values of a Kubernetes Secret in JSON, as text.
func members(b []byte, at int, out []span) []span {
	at = skip(b, at, maxGap, isSpace)
	if at == len(b) || b[at] != '{' || !secretNear(b, at) {
		return nil
	}
	for at++; ; at++ {
		at = skip(b, at, maxGap, isSpace)
		open, quote := opening(b, at)
		if quote.char == 0 {
			return out
		}
		var op string
		if at, op = operator(b, closing(b, quoted(b, open, quote))); op != ":" {
			return out
		}
		if open, quote = opening(b, skip(b, at, maxGap, isSpace)); quote.char == 0 {
			return out
		}
		end := quoted(b, open, quote)
		out = dataValue(b, open, end, out)
		if at = skip(b, closing(b, end), maxGap, isSpace); at == len(b) || b[at] != ',' {
			return out
		}
	}
}

// dataValue appends b[from:to], without its quotes, if it may be a secret.
func dataValue(b []byte, from, to int, out []span) []span {
	for to > from && isSpace(b[to-1]) {
		to--
	}
	if from < to && isQuote(b[from]) {
		from++
		if to > from && isQuote(b[to-1]) {
			to--
		}
	}
	v := b[from:to]
	if len(v) < minData || template(v) || reference(v) || bytes.Contains(v, []byte(markerStart)) || placeholder(v) {
		return out
	}
	return append(out, span{from, to, "secret"})
}

// secretNear reports whether "kind: Secret" stands near b[at], in the same document.
func secretNear(b []byte, at int) bool {
	before, after := b[max(0, at-maxManifest):at], b[at:min(len(b), at+maxManifest)]
	if cut := bytes.LastIndex(before, []byte("\n---")); cut >= 0 {
		before = before[cut:]
	}
	if cut := bytes.Index(after, []byte("\n---")); cut >= 0 {
		after = after[:cut]
	}
	return saysSecret(before) || saysSecret(after)
}

// saysSecret reports whether text has kind: Secret in it, as YAML or as JSON.
func saysSecret(text []byte) bool {
	for {
		at := bytes.Index(text, []byte("Secret"))
		if at < 0 {
			return false
		}
		before := bytes.TrimRight(text[:at], " \t\"'\\")
		before, colon := bytes.CutSuffix(before, []byte(":"))
		text = text[at+len("Secret"):]
		if colon && bytes.HasSuffix(bytes.TrimRight(before, " \t\"'\\"), []byte("kind")) && (len(text) == 0 || !isWord(text[0])) {
			return true
		}
	}
}

// lineStart is where the line begins that b[at] is in, at most maxName bytes back.
func lineStart(b []byte, at int) int {
	limit := max(0, at-maxName)
	for at > limit && b[at-1] != '\n' {
		at--
	}
	return at
}

func lineEnd(b []byte, at int) int {
	if end := bytes.IndexByte(b[at:], '\n'); end >= 0 {
		return at + end
	}
	return len(b)
}

func nextLine(b []byte, at int) int { return min(len(b), lineEnd(b, at)+1) }

// indentation returns how far the line that begins at line is moved in, and where its
// text begins. What a diff or a numbered listing puts before a line does not count.
func indentation(b []byte, line int) (int, int) {
	at := line
	if at < len(b) && (b[at] == '+' || b[at] == '-' && at+1 < len(b) && b[at+1] != ' ' && b[at+1] != '-') {
		at++
	} else if n := skip(b, at, maxGap, isBlank); n < len(b) && isDigit(b[n]) {
		n = skip(b, n, 8, isDigit)
		switch {
		case bytes.HasPrefix(b[n:], []byte("→")):
			at = n + len("→")
		case n < len(b) && (b[n] == '\t' || b[n] == '|'):
			at = n + 1
		}
	}
	from := skip(b, at, maxManifest, isBlank)
	return from - at, from
}

// records are the ports, between colons, by which a line of a .pgpass file is known.
var records = [...]string{":5432:", ":5433:", ":5434:", ":6432:", ":6543:", ":*:"}

// record finds the password in a line of a .pgpass file, host:port:database:user:password,
// whose port with its colons is b[from:to].
func record(b []byte, from, to int) (int, int) {
	host := from
	for host > 0 && from-host < maxName && inRecord(b[host-1]) {
		host--
	}
	if host == from {
		return 0, 0
	}
	for range 2 { // database and user
		end := skip(b, to, maxName, inRecord)
		if end == to || end == len(b) || b[end] != ':' {
			return 0, 0
		}
		to = end + 1
	}
	end := unquoted(b, to)
	if v := b[to:end]; !secretText(v, strong) {
		return 0, 0
	}
	return to, end
}

func inRecord(c byte) bool { return isWord(c) || c == '*' || c == '.' || c == '-' }
