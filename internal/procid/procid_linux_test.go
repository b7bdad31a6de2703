package procid

import "testing"

func TestTheProgramsNameDoesNotConfuse(t *testing.T) {
	tail := " S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0"
	for _, name := range []string{"sh", "a b", "x) Z 1 (y", ")"} {
		if start, known := parseStat([]byte("12 (" + name + ")" + tail)); start != "4711" || !known {
			t.Errorf("%q: start %q, known %v", name, start, known)
		}
	}
	if start, known := parseStat([]byte("12 (sh) Z 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0")); start != "" || !known {
		t.Errorf("a zombie lives: %q, %v", start, known)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("1 (sh) S 0"))
	f.Fuzz(func(t *testing.T, stat []byte) { parseStat(stat) })
}
