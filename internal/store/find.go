package store

import (
	"strings"
	"time"
)

// MaxName bounds in a list, in bytes, what turns are asked for by: their thread, agent,
// repository and branch. What is longer is cut, so that it fits into a question.
const MaxName = 1 << 10

// Query chooses turns. The zero value is all of them.
type Query struct {
	Words               string // each is the beginning of one that the turn is found by
	Thread              string
	Agent, Repo, Branch string
	Failed, Interrupted bool      // only those that failed, or were interrupted; of several of these three any holds
	FailedSteps         bool      // only those with a run below their own that failed
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

// failedSteps counts a turn's runs that failed, but for its own top run.
const failedSteps = "(failed - (error <> '' AND NOT interrupted))"

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
			c.and(equal[0]+" = ?", short(equal[1], MaxName))
		}
	}
	var ends []string
	for _, end := range []struct {
		wanted bool
		sql    string
	}{{q.Failed, "error <> '' AND NOT interrupted"}, {q.Interrupted, "interrupted"}, {q.FailedSteps, failedSteps + " > 0"}} {
		if end.wanted {
			ends = append(ends, end.sql)
		}
	}
	if len(ends) > 0 {
		c.and("(" + strings.Join(ends, " OR ") + ")")
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
