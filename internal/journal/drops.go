package journal

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/internal/lines"
	"github.com/tracesmith/tracesmith/internal/regular"
)

// Reasons for a loss. Others may be added anywhere: they are data.
const (
	DropBadInput  = "bad_input"     // a hook was given what no JSON is
	DropTooLarge  = "too_large"     // beyond the limits of one entry
	DropFull      = "journal_full"  // the session's journal is at its limit
	DropUnknown   = "unknown_event" // no event that the agent's hooks list
	DropCorrupt   = "corrupt_line"  // a line of a journal that is no entry
	DropRedaction = "redaction"     // a run that redaction could not vouch for
	DropRefused   = "refused"       // a run that the destination refused for good
	DropUnsent    = "unsent"        // a run of an agent that ended before it could be delivered
	DropReducer   = "reducer"       // an event that the reducer could not take
	DropExpired   = "expired"       // a session removed before all of it was delivered
	DropMute      = "mute_garbled"  // a turn of which cannot be read whether it was muted
	DropLongLine  = "long_line"     // a transcript's line beyond the limit
	DropCount     = "garbled_count" // a count of losses that cannot be read
)

// Shortened is counted like a loss and is none: a run that arrived cut down to what
// the destination takes.
const Shortened = "shortened"

// drop is one line of the file of counts.
type drop struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
	Count  int64     `json:"count"`
	IDs    []string  `json:"ids,omitempty"` // of the losses, where each may be counted again
}

// Bounds of one line.
const (
	maxDropLine = 64 << 10
	maxDropIDs  = 1000
	maxDrop     = 1 << 40 // more than that nobody has lost
)

// Drop counts n losses for a reason. It is best effort: where nothing can be
// written nothing can be counted.
func (s *State) Drop(reason string, n int) error {
	if n <= 0 {
		return nil
	}
	return s.drop(drop{Reason: reason, Count: int64(n)})
}

// DropOnce counts losses that may be noticed more than once, such as by each of
// several destinations or after a checkpoint was lost: each id counts once.
func (s *State) DropOnce(reason string, ids []string) error {
	for part := range slices.Chunk(ids, maxDropIDs) {
		if err := s.drop(drop{Reason: reason, Count: int64(len(part)), IDs: part}); err != nil {
			return err
		}
	}
	return nil
}

func (s *State) drop(d drop) error {
	d.At = time.Now().UTC()
	line, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("journal: drop: %w", err)
	}
	return appendLine(s.path("dropped.jsonl"), append(line, '\n'))
}

// Drops sums up what was lost, by reason. A line that is no count is DropCount.
func (s *State) Drops() (map[string]int64, error) {
	f, err := regular.OpenHere(s.path("dropped.jsonl"))
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("journal: drops: %w", err)
	}
	defer f.Close()
	sums, seen := map[string]int64{}, map[string]bool{}
	for line, err := range lines.Read(f, 0, MaxJournal, maxDropLine) {
		if err != nil {
			return sums, fmt.Errorf("journal: drops: %w", err)
		}
		var d drop
		switch {
		case !line.Long && len(line.Data) == 0: // a fence
		case json.Unmarshal(line.Data, &d) != nil || !plainName(d.Reason) || d.Count <= 0 || d.Count > maxDrop:
			sums[DropCount]++
		case len(d.IDs) == 0:
			sums[d.Reason] += d.Count
		default:
			for _, id := range d.IDs {
				if key := d.Reason + "/" + id; !seen[key] {
					seen[key] = true
					sums[d.Reason]++
				}
			}
		}
	}
	return sums, nil
}
