package opencode

// step is one message of the assistant's: one call of the model, and its tools.
type step struct {
	ID        string   `json:"id"`
	Line      string   `json:"line"` // the newest of the message
	Agent     string   `json:"agent,omitempty"`
	Compacts  bool     `json:"compacts,omitempty"`
	Asked     bool     `json:"asked,omitempty"` // the user asked for the compaction
	Created   int64    `json:"created,omitempty"`
	Request   int64    `json:"request,omitempty"`  // when the model was first asked
	Answered  bool     `json:"answered,omitempty"` // the model began to answer
	Completed int64    `json:"completed,omitempty"`
	Params    *params  `json:"params,omitempty"`
	Retries   int      `json:"retries,omitempty"`
	Retry     string   `json:"retry,omitempty"` // the line of the last one
	Pieces    []*piece `json:"pieces,omitempty"`
	Sent      bool     `json:"sent,omitempty"`
}

// piece is a part of a message.
type piece struct {
	ID     string   `json:"id"`
	Type   string   `json:"type"`
	Line   string   `json:"line"`
	Deltas []string `json:"deltas,omitempty"` // lines that came since

	// Of a tool's call.
	Call    string `json:"call,omitempty"`
	Begun   int64  `json:"begun,omitempty"`
	Over    bool   `json:"over,omitempty"`
	Stopped bool   `json:"stopped,omitempty"`
	Apart   bool   `json:"apart,omitempty"` // what it began goes on
	Child   string `json:"child,omitempty"` // the session it runs
	Sent    sent   `json:"sent,omitempty"`
	Wait    int64  `json:"wait,omitempty"` // milliseconds
	Answer  string `json:"answer,omitempty"`
}

// restart begins another attempt: what an attempt that broke off had said so far is no
// part of the reply.
func (s *step) restart() {
	s.Answered = true
	for _, x := range s.Pieces {
		x.Deltas = nil
	}
}

// piece finds a part of the step, or begins it.
func (s *step) piece(id, kind string) *piece {
	for i := range s.Pieces {
		if s.Pieces[i].ID == id {
			return s.Pieces[i]
		}
	}
	s.Pieces = append(s.Pieces, &piece{ID: id, Type: kind})
	return s.Pieces[len(s.Pieces)-1]
}
