package history

// Why a session is left out.
const (
	LeftLive       = "live"       // somebody works on it, or may do so: live capture has it
	LeftWaiting    = "waiting"    // hooks recorded what no drainer has delivered yet
	LeftUnreadable = "unreadable" // its files cannot be read
	LeftOld        = "old"        // nothing was written to it since the given time
)

// Report is what an import has done, or a dry run would do.
type Report struct {
	DryRun  bool           `json:"dry_run,omitempty"`
	Folders []Folder       `json:"folders"` // where the agent worked, by path
	Sent    []Sent         `json:"sent"`    // by destination
	Left    map[string]int `json:"left"`    // sessions left out, by reason
	Lost    map[string]int `json:"lost"`    // what could not be used, by reason
	Off     int            `json:"off"`     // turns in folders where tracing is switched off
}

// Folder is what was found of one folder that the agent worked in.
type Folder struct {
	Path     string `json:"path"`
	Sessions int    `json:"sessions"`
	Turns    int    `json:"turns"` // since the given time; compactions between turns count
	New      int    `json:"new"`   // of these, what a destination did not have
	Runs     int    `json:"runs"`  // of the new turns
	Bytes    int64  `json:"bytes"` // of the sessions' files
}

// Sent is what a destination got, or would get.
type Sent struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Turns int    `json:"turns"`
	Runs  int    `json:"runs"`
	Error string `json:"error,omitempty"` // why it did not get the rest

	Refused int `json:"refused,omitempty"` // runs that it will never take
}

// Total sums the folders up.
func (r Report) Total() Folder {
	var total Folder
	for _, f := range r.Folders {
		total.Sessions += f.Sessions
		total.Turns += f.Turns
		total.New += f.New
		total.Runs += f.Runs
		total.Bytes += f.Bytes
	}
	return total
}

// Progress is how far an import is.
type Progress struct {
	Sessions, OfSessions int
	Bytes, OfBytes       int64 // of the sessions' files
	Turns                int   // that were new, so far
}
