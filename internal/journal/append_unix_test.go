//go:build unix

package journal

import (
	"errors"
	"syscall"
	"testing"

	"github.com/tracesmith/tracesmith/internal/regular"
)

func TestAPipeInTheJournalsPlaceTakesNothing(t *testing.T) {
	s := open(t).Session("toy", "s")
	if err := s.prepare(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(s.path(journalName), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(Entry{Event: "lost"}); !errors.Is(err, regular.Err) {
		t.Errorf("got %v: what nobody reads would not be counted", err)
	}
}
