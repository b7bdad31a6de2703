package journal

import "strings"

// Policy is what the user's settings said when a hook ran. A drainer may belong to
// another shell with other settings: it may lower what is sent, never raise it, and
// it sends a turn only where the turn's own hooks wanted it.
type Policy struct {
	To      string `json:"to,omitempty"`      // ids of the destinations, parted by commas; "": none was configured
	Key     string `json:"key,omitempty"`     // a hash that tells keys for one destination apart
	Content string `json:"content,omitempty"` // a level of package runtypes: no more may leave; "": all
	Plain   bool   `json:"plain,omitempty"`   // redaction was switched off
	// Restraint tells what was to be hidden beside secrets; "": nothing.
	Restraint string `json:"restraint,omitempty"`
}

// Wants reports whether a destination is one of those that were configured.
func (p Policy) Wants(destination string) bool {
	for to := range strings.SplitSeq(p.To, ",") {
		if to == destination {
			return to != ""
		}
	}
	return false
}
