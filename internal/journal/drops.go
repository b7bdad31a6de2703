package journal

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"
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
	DropReducer   = "reducer"       // an event that the reducer could not take
	DropExpired   = "expired"       // a session removed before all of it was delivered
	DropLongLine  = "long_line"     // a transcript's line beyond the limit
)

type drop struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
	Count  int64     `json:"count"`
}

// Drop counts n losses for a reason. It is best effort: where nothing can be
// written nothing can be counted.
func (s *State) Drop(reason string, n int) error {
	if n <= 0 {
		return nil
	}
	line, err := json.Marshal(drop{time.Now().UTC(), reason, int64(n)})
	if err != nil {
		return fmt.Errorf("journal: drop: %w", err)
	}
	return appendLine(s.path("dropped.jsonl"), append(line, '\n'))
}

// Drops sums up what was lost, by reason.
func (s *State) Drops() (map[string]int64, error) {
	f, err := os.Open(s.path("dropped.jsonl"))
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("journal: drops: %w", err)
	}
	defer f.Close()
	sums := map[string]int64{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var d drop
		if json.Unmarshal(lines.Bytes(), &d) == nil && d.Count > 0 {
			sums[d.Reason] += d.Count
		}
	}
	if err := lines.Err(); err != nil {
		return sums, fmt.Errorf("journal: drops: %w", err)
	}
	return sums, nil
}
