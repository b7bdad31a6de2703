package doctor

import "fmt"

// Level says what a line means.
type Level string

// The levels. A note is worth knowing and keeps nothing from working.
const (
	OK      Level = "ok"
	Note    Level = "note"
	Problem Level = "problem"
)

// Line is one thing that was looked at.
type Line struct {
	Level Level  `json:"level"`
	Check string `json:"check"` // what was looked at: an agent's name, settings, state, store, network, delivery
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"`
}

// Report is what was found, in the order in which it was looked at.
type Report struct {
	Lines []Line
}

// Problems counts the lines that are problems.
func (r *Report) Problems() int {
	n := 0
	for _, line := range r.Lines {
		if line.Level == Problem {
			n++
		}
	}
	return n
}

func (r *Report) ok(check, format string, args ...any) {
	r.Lines = append(r.Lines, Line{Level: OK, Check: check, Text: fmt.Sprintf(format, args...)})
}

func (r *Report) note(check, fix, format string, args ...any) {
	r.Lines = append(r.Lines, Line{Level: Note, Check: check, Fix: fix, Text: fmt.Sprintf(format, args...)})
}

func (r *Report) problem(check, fix, format string, args ...any) {
	r.Lines = append(r.Lines, Line{Level: Problem, Check: check, Fix: fix, Text: fmt.Sprintf(format, args...)})
}
