package redact

import "sync"

// kind says what to do at a keyword.
type kind uint8

const (
	kindToken    kind = iota // a token starts here
	kindPEM                  // a private key's block starts here
	kindPEMEnd               // a private key's block ends here
	kindName                 // a sensitive name ends here
	kindHeader               // an authorization header's name ends here
	kindBearer               // a bearer token may follow
	kindURL                  // a URL's host, perhaps with a user before it, follows
	kindOption               // a command's option that may take a password
	kindVendor               // a vendor's name, which may be part of a value's
	kindBasic                // base64 of user and password may follow
	kindPhrase               // words that tell of a secret begin here
	kindCookie               // a cookie header's name ends here
	kindManifest             // the values of a Kubernetes manifest may follow
	kindRecord               // a line of a .pgpass file may go on here
)

// keyword is a literal that a secret cannot do without.
type keyword struct {
	text string // lower case if fold
	fold bool   // in any case
	kind kind
	name string // for the marker
	rule int    // of a token: its place in rules; of a vendor: in vendors; of a phrase: in phrases
	how  trust  // of a name: what its value must show
	next uint16 // the keyword to try after this one; 0: none
}

// at reports whether the keyword stands at b[from:]. There is room for it.
func (k *keyword) at(b []byte, from int) bool {
	if !k.fold {
		return string(b[from:from+len(k.text)]) == k.text
	}
	for i := range len(k.text) {
		if lower(b[from+i]) != k.text[i] {
			return false
		}
	}
	return true
}

const (
	gram     = 3        // bytes of a keyword that the gate looks for: its last
	hashBits = 5 * gram // five bits tell letters apart
	hashMask = 1<<hashBits - 1
)

// index is the gate: it finds keywords in one look-up for each byte.
type index struct {
	first   [1 << hashBits]uint16 // by hash of the last bytes: the first keyword; 0: none ends so
	words   []keyword             // words[0] stands for none
	rules   []*rule               // of tokens
	vendors []vendor
}

// step takes one byte more into the hash, and the oldest out. Case is folded away.
func step(hash uint32, c byte) uint32 {
	return (hash<<5 ^ uint32(c|0x20)) & hashMask
}

// add enters a keyword of at least gram bytes.
func (x *index) add(k keyword) {
	var hash uint32
	for i := len(k.text) - gram; i < len(k.text); i++ {
		hash = step(hash, k.text[i])
	}
	k.next = x.first[hash]
	x.first[hash] = uint16(len(x.words))
	x.words = append(x.words, k)
}

// fastIndex holds what a prefix gives away, fullIndex also what the context does.
// They are built when first used: the hook's process starts with neither.
var fastIndex, fullIndex = sync.OnceValue(newFast), sync.OnceValue(newFull)

func newFast() *index {
	x := &index{words: make([]keyword, 1, 256)}
	x.addPrefixes()
	return x
}

// addPrefixes enters what the hook looks for.
func (x *index) addPrefixes() {
	for i := range tokens {
		x.addToken(&tokens[i], false)
	}
	x.add(keyword{text: pemBegin, kind: kindPEM, name: "private-key"})
}

// addToken enters a rule; fold says that its keywords are in lower case, and its
// pattern tells the case.
func (x *index) addToken(r *rule, fold bool) {
	for _, word := range r.keywords {
		x.add(keyword{text: word, fold: fold, kind: kindToken, name: r.name, rule: len(x.rules)})
	}
	x.rules = append(x.rules, r)
}

// newFull enters the published rules first: of two keywords that end alike the later
// is tried before, and what is known in more than one way should go by our names.
func newFull() *index {
	x := &index{words: make([]keyword, 1, 512)}
	x.addPublished()
	for i := range rarer {
		x.addToken(&rarer[i], false)
	}
	x.addPrefixes()
	for i := range phrases {
		for _, word := range phrases[i].keywords {
			x.add(keyword{text: word, fold: true, kind: kindPhrase, name: phrases[i].name, rule: i})
		}
	}
	for _, k := range names {
		x.add(k)
	}
	x.add(keyword{text: "cookie", fold: true, kind: kindCookie, name: "cookie"})
	x.add(keyword{text: "data:", kind: kindManifest, name: "secret"})
	x.add(keyword{text: "Data:", kind: kindManifest, name: "secret"})
	x.add(keyword{text: `ata":`, kind: kindManifest, name: "secret"})
	x.add(keyword{text: `ata\":`, kind: kindManifest, name: "secret"})
	for _, port := range records {
		x.add(keyword{text: port, kind: kindRecord, name: "password"})
	}
	x.add(keyword{text: "authorization", fold: true, kind: kindHeader, name: authHeader})
	x.add(keyword{text: pemFinish, kind: kindPEMEnd, name: "private-key"})
	x.add(keyword{text: "bearer", fold: true, kind: kindBearer, name: "bearer"})
	x.add(keyword{text: "basic ", fold: true, kind: kindBasic, name: authHeader})
	x.add(keyword{text: "://", kind: kindURL, name: "url-password"})
	for _, flag := range flags() {
		x.add(keyword{text: flag, kind: kindOption, name: "password"})
	}
	return x
}
