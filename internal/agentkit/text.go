package agentkit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// MaxCarried bounds a text that the journal carries because no transcript does.
const MaxCarried = 16 << 10

// Clip bounds a text at a rune's edge and says what it left out.
func Clip(s string) string {
	if len(s) <= MaxCarried {
		return s
	}
	cut := strings.ToValidUTF8(s[:MaxCarried], "")
	return cut + fmt.Sprintf("\n[… %d bytes left out]", len(s)-len(cut))
}

// ClipJSON decodes a JSON string and clips it. Of a long one only the beginning is
// decoded. What is no string is "".
func ClipJSON(raw json.RawMessage) string {
	const beginning = 8 * MaxCarried
	left := 0
	if len(raw) > 2*beginning {
		left = len(raw) - beginning
		raw = raw[:beginning]
		for i := 0; i < 6 && len(raw) > 0 && raw[len(raw)-1] != ' '; i++ { // an escape is six bytes at most
			if json.Valid(slices.Concat(raw, []byte{'"'})) {
				break
			}
			raw = raw[:len(raw)-1]
		}
		raw = slices.Concat(raw, []byte{'"'})
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	if left > 0 && len(text) > MaxCarried {
		cut := strings.ToValidUTF8(text[:MaxCarried], "")
		return cut + fmt.Sprintf("\n[… about %d bytes left out]", left+len(text)-len(cut))
	}
	return Clip(text)
}

// HashText names a text without keeping it.
func HashText(s string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(s)))
	return hex.EncodeToString(sum[:8])
}

// maxCanonical bounds a value that is decoded to be named.
const maxCanonical = 256 << 10

// HashJSON names a JSON value without keeping it: equal values have equal names,
// whatever their key order and spacing.
func HashJSON(raw json.RawMessage) string {
	if len(raw) > maxCanonical {
		return HashText(string(raw)) // its writer writes it alike each time
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	canonical, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return HashText(string(canonical))
}

// SortedKeys keeps map order out of what is emitted.
func SortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// VersionAtLeast compares a version such as 2.1.332.
func VersionAtLeast(version string, want ...int) bool {
	parts := strings.SplitN(version, ".", 4)
	for i, w := range want {
		if i >= len(parts) {
			return false
		}
		n := 0
		if _, err := fmt.Sscanf(parts[i], "%d", &n); err != nil {
			return false
		}
		if n != w {
			return n > w
		}
	}
	return true
}
