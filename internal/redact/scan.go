package redact

// span is a secret within a text.
type span struct {
	from, to int
	rule     string
}

// scan appends the secrets in b, in order and apart from each other.
func (x *index) scan(b []byte, spans []span) []span {
	in := scanner{index: x, text: b}
	var hash uint32
	free := 0 // where the last span ended
	for i, c := range b {
		hash = step(hash, c)
		for n := x.first[hash]; n != 0; n = x.words[n].next {
			k := &x.words[n]
			from := i + 1 - len(k.text)
			if from < free || !k.at(b, from) {
				continue
			}
			if found, ok := in.look(k, from, i+1); ok && found.from >= free {
				spans = append(append(spans, found), in.more...)
				free, in.more = spans[len(spans)-1].to, in.more[:0]
				break
			}
			in.more = in.more[:0]
		}
	}
	return spans
}

// scanner is what is known of a text while it is scanned.
type scanner struct {
	*index
	text   []byte
	barren []int  // by rule: where it matches nothing before; nil: nothing is known
	more   []span // what look found after its first
}

// look decides whether there is a secret at the keyword text[from:to].
func (s *scanner) look(k *keyword, from, to int) (span, bool) {
	b := s.text
	found := span{rule: k.name}
	switch k.kind {
	case kindToken:
		start := from - s.rules[k.rule].back
		if start < 0 {
			return span{}, false
		}
		found = span{start, s.token(k, start), k.name}
	case kindPEM:
		found.from, found.to = from, pemEnd(b, from)
	case kindPEMEnd:
		found.from, found.to = pemTail(b, from)
	case kindName:
		found.from, found.to = namedValue(k, b, from, to)
	case kindHeader:
		found.from, found.to = headerValue(b, from, to)
	case kindBearer:
		found.from, found.to = bearerValue(b, from, to)
	case kindURL:
		found.from, found.to = userinfo(b, to)
	case kindOption:
		found.from, found.to = optionValue(b, from, to)
	case kindBasic:
		found.from, found.to = basicValue(b, from, to)
	case kindPhrase:
		found.from, found.to = phrases[k.rule].find(b, from)
	case kindCookie:
		found = s.first(cookies(b, from, to, s.more))
	case kindManifest:
		found = s.first(manifest(b, to, s.more))
	case kindRecord:
		found.from, found.to = record(b, from, to)
	case kindVendor:
		found = vendorValue(s.vendors[k.rule], b, to)
	}
	if found.from >= found.to {
		return span{}, false
	}
	if k.kind != kindToken && k.kind != kindPEM && k.kind != kindPEMEnd {
		found.rule = precise(b[found.from:found.to], found.rule)
	}
	return found, true
}

// first returns the first of many finds and keeps the others.
func (s *scanner) first(all []span) span {
	if len(all) == 0 {
		return span{}
	}
	s.more = all[1:]
	return all[0]
}

// token returns where the token ends that starts at from.
func (s *scanner) token(k *keyword, from int) int {
	known := 0
	if s.barren != nil {
		known = s.barren[k.rule]
	}
	to, nothing := s.rules[k.rule].match(s.text, from, known)
	if to == from {
		to = s.rules[k.rule].wrapped(s.text, from)
	}
	if nothing > known {
		if s.barren == nil {
			s.barren = make([]int, len(s.rules))
		}
		s.barren[k.rule] = nothing
	}
	return to
}

// precise names the token rule that knows the whole value, or the rule that found
// it by its context: GITHUB_TOKEN=ghp_… is a github-pat.
func precise(value []byte, rule string) string {
	var buf [1]span
	spans := fastIndex().scan(value, buf[:0])
	if len(spans) == 1 && spans[0].from == 0 && spans[0].to == len(value) {
		return spans[0].rule
	}
	return rule
}

// replace appends b with a marker in place of each span.
func replace(out, b []byte, spans []span) []byte {
	done := 0
	for _, s := range spans {
		out = append(out, b[done:s.from]...)
		out = append(out, markerStart...)
		out = append(out, s.rule...)
		out = append(out, ']')
		done = s.to
	}
	return append(out, b[done:]...)
}

// markerStart begins what stands in place of a secret: [redacted:rule].
const markerStart = "[redacted:"
