package idgen

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// The vectors are the contract with every run already stored: a failure here
// means that a replay would duplicate history instead of meeting it.
func TestGoldenVectorsHold(t *testing.T) {
	f, err := os.Open("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cols := strings.Split(line, "\t")
		turn, err := time.Parse(time.RFC3339Nano, cols[0])
		if err != nil {
			t.Fatal(err)
		}
		key := strings.Split(cols[1], "|")
		id := Run(turn, key...)
		if got := id.String(); got != cols[2] {
			t.Errorf("Run(%s, %q) = %s, want %s", cols[0], key, got, cols[2])
		}
		if got := Segment(turn, id); got != cols[3] {
			t.Errorf("Segment(%s) = %s, want %s", cols[0], got, cols[3])
		}
		n++
	}
	if n < 6 {
		t.Fatalf("only %d vectors read", n)
	}
}

func TestRunIsAVersion7UUIDOfTheTurnsMillisecond(t *testing.T) {
	turn := time.Date(2026, 11, 30, 4, 28, 54, 799_123_456, time.UTC)
	id := Run(turn, "claude-code", "thread", "turn", "root")
	if id.Version() != 7 || id.Variant() != uuid.RFC4122 {
		t.Fatalf("version %d variant %v", id.Version(), id.Variant())
	}
	sec, nsec := id.Time().UnixTime()
	if got := time.Unix(sec, nsec).UTC(); !got.Equal(turn.Truncate(time.Millisecond)) {
		t.Fatalf("time bits say %v", got)
	}
}

func TestKeyPartsAreLengthPrefixed(t *testing.T) {
	turn := time.Unix(1, 0)
	if Run(turn, "ab", "c") == Run(turn, "a", "bc") {
		t.Fatal("moving a byte between parts gave the same id")
	}
	if Run(turn, "a") == Run(turn, "a", "") {
		t.Fatal("an empty part made no difference")
	}
}

func TestSegmentHasSixDigitsInUTC(t *testing.T) {
	id := uuid.MustParse("0e01bf50-474d-4536-810f-67d3ee7ea3e7")
	check := func(at time.Time, want string) {
		t.Helper()
		if got := Segment(at, id); got != want+id.String() {
			t.Errorf("Segment(%v) = %s, want %s…", at, got, want)
		}
	}
	check(time.Date(2024, 9, 19, 17, 16, 48, 521691000, time.UTC), "20240919T171648521691Z")
	check(time.Date(2024, 9, 19, 17, 16, 48, 0, time.UTC), "20240919T171648000000Z")
	check(time.Date(2024, 9, 19, 17, 16, 48, 100_000_999, time.UTC), "20240919T171648100000Z")
	check(time.Date(2024, 9, 19, 19, 16, 48, 7_008_000, time.FixedZone("CEST", 7200)), "20240919T171648007008Z")
}

func TestJoinBuildsAPath(t *testing.T) {
	at := time.Unix(0, 0)
	a, b := Run(at, "a"), Run(at, "b")
	root := Join("", at, a)
	if want := Segment(at, a) + "." + Segment(at, b); Join(root, at, b) != want {
		t.Fatalf("Join = %s", Join(root, at, b))
	}
}
