package redact

import "regexp/syntax"

// byteSet says of each byte whether it is in the set.
type byteSet [256]bool

// maxHead is how many bytes of a token are checked before its pattern runs. It is
// more than a prefix, so that a text full of prefixes costs little.
const maxHead = 32

// head returns what may stand at each of the first bytes of a match, up to where
// the shortest match ends. It follows the states of the compiled pattern.
func head(pattern string) []byteSet {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil
	}
	states := map[uint32]bool{}
	matched := follow(prog, uint32(prog.Start), states)
	var sets []byteSet
	for !matched && len(sets) < maxHead {
		var set byteSet
		next := map[uint32]bool{}
		for pc := range states {
			inst := &prog.Inst[pc]
			if inst.Op != syntax.InstAlt && inst.Op != syntax.InstAltMatch {
				set.add(inst)
				matched = follow(prog, inst.Out, next) || matched
			}
		}
		sets, states = append(sets, set), next
	}
	return sets
}

// add adds the bytes that a state takes.
func (s *byteSet) add(inst *syntax.Inst) {
	wide := len(inst.Rune) > 0 && inst.Rune[len(inst.Rune)-1] >= 0x80 // a rune of many bytes: the pattern decides
	for c := range s {
		if c >= 0x80 && wide || c < 0x80 && inst.MatchRune(rune(c)) {
			s[c] = true
		}
	}
}

// follow adds the states that are reached from pc without taking a byte. It reports
// whether the pattern's end is one of them.
func follow(prog *syntax.Prog, pc uint32, states map[uint32]bool) (matched bool) {
	inst := &prog.Inst[pc]
	switch inst.Op {
	case syntax.InstMatch:
		return true
	case syntax.InstFail:
		return false
	case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
		return follow(prog, inst.Out, states)
	case syntax.InstAlt, syntax.InstAltMatch:
		if states[pc] {
			return false
		}
		states[pc] = true
		left := follow(prog, inst.Out, states)
		return follow(prog, inst.Arg, states) || left
	default:
		states[pc] = true
		return false
	}
}
