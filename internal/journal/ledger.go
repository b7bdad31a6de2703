package journal

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/google/uuid"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
	"github.com/tracesmith/tracesmith/internal/lines"
	"github.com/tracesmith/tracesmith/internal/private"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// The ledger of a destination lists the traces that it has whole, one id a line. It
// is what drainers and imports have in common, so that neither sends what the other
// did. It may lack some: a trace that is sent again changes nothing.
const (
	ledgerLine = 2*16 + 1  // bytes: hexadecimal digits and a newline
	maxLedger  = 1_000_000 // traces; beyond it the older half is forgotten
)

// Traces is a set of traces. The zero value is empty.
type Traces struct {
	sorted []uuid.UUID
	added  map[uuid.UUID]bool
}

// Has reports whether a trace is in the set.
func (t *Traces) Has(trace uuid.UUID) bool {
	_, found := slices.BinarySearchFunc(t.sorted, trace, compareIDs)
	return found || t.added[trace]
}

// Add puts a trace into the set.
func (t *Traces) Add(trace uuid.UUID) {
	if t.added == nil {
		t.added = map[uuid.UUID]bool{}
	}
	t.added[trace] = true
}

func compareIDs(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }

// Ledger reads the traces that a destination has. Lines that are no ids, such as
// one that a killed process left half written, do not count.
func (s *State) Ledger(destination string) (*Traces, error) {
	f, err := regular.OpenHere(s.ledgerPath(destination))
	if missing(err) {
		return &Traces{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("journal: ledger: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("journal: ledger: %w", err)
	}
	t := &Traces{}
	for line, err := range lines.Read(f, 0, min(info.Size(), 2*maxLedger*ledgerLine), ledgerLine) {
		if err != nil {
			return nil, fmt.Errorf("journal: ledger: %w", err)
		}
		var id uuid.UUID
		if len(line.Data) != 2*len(id) {
			continue
		}
		if _, err := hex.Decode(id[:], line.Data); err == nil {
			t.sorted = append(t.sorted, id)
		}
	}
	slices.SortFunc(t.sorted, compareIDs)
	t.sorted = slices.Clip(slices.Compact(t.sorted))
	return t, nil
}

// Enter adds traces that a destination has accepted with their ends.
func (s *State) Enter(destination string, traces []uuid.UUID) error {
	if len(traces) == 0 {
		return nil
	}
	if !plainName(destination) {
		return fmt.Errorf("journal: %q is no destination id", destination)
	}
	if err := private.Dir(s.path("destinations")); err != nil {
		return fmt.Errorf("journal: ledger: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordWait)
	defer cancel()
	lock, err := acquire(ctx, s.path("destinations", destination+".lock"))
	if err != nil {
		return err
	}
	defer lock.Unlock()
	path := s.ledgerPath(destination)
	if err := trimLedger(path, maxLedger-len(traces)); err != nil {
		return err
	}
	text := make([]byte, 0, len(traces)*ledgerLine)
	for _, id := range traces {
		text = append(hex.AppendEncode(text, id[:]), '\n')
	}
	return appendLine(path, text)
}

// trimLedger halves a ledger that is longer than so many lines. What is forgotten
// may be sent once more.
func trimLedger(path string, limit int) error {
	info, err := os.Lstat(path)
	if missing(err) || err == nil && info.Size() <= int64(limit)*ledgerLine {
		return nil
	}
	if err != nil {
		return fmt.Errorf("journal: ledger: %w", err)
	}
	f, err := regular.OpenHere(path)
	if err != nil {
		return fmt.Errorf("journal: ledger: %w", err)
	}
	newer := io.NewSectionReader(f, info.Size()/2, info.Size())
	text, err := io.ReadAll(io.LimitReader(newer, maxLedger*ledgerLine))
	if err := errors.Join(err, f.Close()); err != nil { // Windows replaces no file that is open
		return fmt.Errorf("journal: ledger: %w", err)
	}
	_, text, _ = bytes.Cut(text, []byte("\n")) // the first line is cut off
	return atomicfile.Write(path, text)
}

func (s *State) ledgerPath(destination string) string {
	return s.path("destinations", destination+".traces")
}

// TryImport takes the lock of imports, or returns ErrLocked if one is at work: two
// would send the same.
func (s *State) TryImport() (*Lock, error) { return try(s.path("import.lock")) }
