package plant

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// The alphabets that templates name.
var alphabets = map[string]string{
	"d": "0123456789",
	"h": "0123456789abcdef",
	"l": "abcdefghijklmnopqrstuvwxyz0123456789",
	"u": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	"a": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
	"w": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
	"b": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
	"3": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
}

// Drawer draws texts from a seed.
type Drawer struct{ *rand.Rand }

// New returns a drawer that draws the same for the same seed.
func New(seed uint64) Drawer { return Drawer{rand.New(rand.NewPCG(seed, seed))} }

// Of draws n characters of an alphabet. The last is a letter or a digit: what follows
// a secret is told apart by it.
func (d Drawer) Of(n int, alphabet string) string {
	letters := alphabets[alphabet]
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[d.IntN(len(letters))]
	}
	if n > 0 && strings.IndexByte("+/_-", b[n-1]) >= 0 {
		b[n-1] = 'x'
	}
	return string(b)
}

// Fill replaces each {n alphabet} of a template: ghp_{36a}.
func (d Drawer) Fill(template string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		what, after, _ := strings.Cut(rest, "}")
		n, err := strconv.Atoi(what[:len(what)-1])
		if err != nil {
			panic(fmt.Sprintf("template %q: %v", template, err))
		}
		b.WriteString(d.Of(n, what[len(what)-1:]))
		template = after
	}
}

// password draws what a person may have thought of or a manager has made.
func (d Drawer) password() string {
	words := []string{"correct", "horse", "Battery", "staple", "winter", "Summer", "tiger", "coffee"}
	switch d.IntN(4) {
	case 0:
		return words[d.IntN(len(words))] + words[d.IntN(len(words))] + d.Of(2, "d")
	case 1:
		return words[d.IntN(len(words))] + d.Of(4, "d") + "!"
	case 2:
		return d.Of(8+d.IntN(8), "a") + d.Of(1, "d")
	default:
		return d.Of(20, "a")
	}
}
