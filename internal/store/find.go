package store

import (
	"strings"
	"time"
)

// Query chooses turns. The zero value is all of them.
type Query struct {
	Words               string // each is the beginning of one that the turn is found by
	Thread              string
	Agent, Repo, Branch string
	Failed              bool // only those that failed; with Interrupted: or were interrupted
	Interrupted         bool
	Since, Until        time.Time // only those that started then or later; before
	Oldest              bool      // the one that started first comes first, in a list of turns
}

// condition is a condition in SQL with its arguments.
type condition struct {
	parts []string
	args  []any
}

func (c *condition) and(part string, args ...any) {
	c.parts = append(c.parts, part)
	c.args = append(c.args, args...)
}

func (c *condition) String() string {
	if len(c.parts) == 0 {
		return "TRUE"
	}
	return strings.Join(c.parts, " AND ")
}

// condition is that of a row of turns.
func (q Query) condition() *condition {
	c := &condition{}
	if match := match(q.Words); match != "" {
		c.and("seq IN (SELECT rowid FROM words WHERE words MATCH ?)", match)
	} else if strings.TrimSpace(q.Words) != "" {
		c.and("FALSE") // nothing but punctuation is in no turn
	}
	for _, equal := range [][2]string{{"thread", q.Thread}, {"agent", q.Agent}, {"repo", q.Repo}, {"branch", q.Branch}} {
		if equal[1] != "" {
			c.and(equal[0]+" = ?", equal[1])
		}
	}
	switch {
	case q.Failed && q.Interrupted:
		c.and("error <> ''")
	case q.Failed:
		c.and("error <> '' AND NOT interrupted")
	case q.Interrupted:
		c.and("interrupted")
	}
	if !q.Since.IsZero() {
		c.and("started >= ?", micros(q.Since))
	}
	if !q.Until.IsZero() {
		c.and("started < ?", micros(q.Until))
	}
	return c
}

// maxTerms bounds the words of a search.
const maxTerms = 16

// match writes a search as FTS5 takes it: every word is the beginning of one that the
// turn has. Words are letters and digits, so nothing in them is an operator.
func match(text string) string {
	list := terms(short(text, maxFact))
	list = list[:min(len(list), maxTerms)]
	for i, term := range list {
		list[i] = `"` + term + `"*`
	}
	return strings.Join(list, " AND ")
}
