package exporter

import (
	"math/rand/v2"
	"testing"

	"github.com/zeebo/xxh3"
)

func TestTheHashIsTheLibrarysForEveryLength(t *testing.T) {
	draw := rand.NewChaCha8([32]byte{1})
	text := make([]byte, 3<<10)
	if _, err := draw.Read(text); err != nil {
		t.Fatal(err)
	}
	for n := 17; n <= len(text); n++ {
		want := xxh3.HashString128(string(text[:n]))
		if hi, lo := xxh128(string(text[:n])); hi != want.Hi || lo != want.Lo {
			t.Fatalf("%d bytes: got %016x%016x, want %016x%016x", n, hi, lo, want.Hi, want.Lo)
		}
	}
}
