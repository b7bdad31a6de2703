package redact

// trust says how much a name is worth as a sign that its value is a secret: the less
// it is, the more the value must show itself.
type trust uint8

const (
	none   trust = iota // no secret's name
	faint               // the value must look drawn: the plural of tokens, auth
	likely              // it must have a digit or change its case: pass
	weak                // numbers are none: token, key, secret
	strong              // a password's
	data                // a Secret's: any value is one
)

// longNumber is how many digits make a number a secret where numbers are none:
// more than counts, ports and sizes have.
const longNumber = 10

// accepts reports whether a value that may be a secret is one after this name.
func (how trust) accepts(v []byte) bool {
	if how < strong && number(v) && (len(v) < longNumber || !digits(v)) {
		return false
	}
	switch escaped := v[0] == '\\'; how { // PASS:\xff
	case faint:
		return (drawn(v) || isLogin(v)) && !escaped
	case likely:
		return random(v) && !spaced(v) && !escaped
	default:
		return how != none && !prose(v)
	}
}

// spaced reports whether there is a blank in v.
func spaced(v []byte) bool {
	for _, c := range v {
		if isSpace(c) {
			return true
		}
	}
	return false
}

// drawn reports whether v looks drawn by chance: digits among the letters, in three
// places or more, or upper and lower case as in no word. Names have their digits
// together: deploy2024, sha256sum.
func drawn(v []byte) bool {
	if len(v) < 8 || spaced(v) {
		return false
	}
	changes := 0
	for i := 1; i < len(v); i++ {
		if isAlnum(v[i]) && isAlnum(v[i-1]) && isDigit(v[i]) != isDigit(v[i-1]) {
			changes++
		}
	}
	return changes >= 3 || scrambled(v)
}
