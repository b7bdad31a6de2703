package opencode

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
)

// Queries of OpenCode's database, in which messages and parts are JSON. A session that
// was forked holds copies of messages that are older than it is.
const (
	rootSessions = `select id, directory, version, time_created, time_updated from session
		where parent_id is null order by time_created, id`
	childSession = `select parent_id, directory, version, agent, time_created from session where id = ? and parent_id is not null`
	messagesOf   = `select m.id, m.data from message m join session s on s.id = m.session_id
		where s.id = ? and m.time_created >= s.time_created order by m.time_created, m.id`
	partsOf = `select message_id, id, data from part where session_id = ? order by message_id, id`
	// What the user typed or attached, and reports of subagents, of messages m in sessions s.
	prompts = ` m.time_created >= s.time_created and json_extract(m.data, '$.role') = 'user'
		and exists (select 1 from part p where p.message_id = m.id
			and json_extract(p.data, '$.type') not in ('compaction')
			and (coalesce(json_extract(p.data, '$.synthetic'), 0) = 0 or json_extract(p.data, '$.text') like '<task id="%'))`
	// The prompts of a session before a message.
	countPrompts = `select count(*) from message m join session s on s.id = m.session_id
		where s.id = ? and m.id < ? and` + prompts
	// The prompts of the subagents of a session, and of theirs.
	promptsBelow = `with recursive below (id) as (select id from session where parent_id = ?
			union select c.id from session c join below b on c.parent_id = b.id)
		select m.id, m.session_id, m.time_created from below b join session s on s.id = b.id join message m on m.session_id = s.id
		where` + prompts + ` order by m.time_created, m.id`
	// The calls that a session worked for at a time.
	callsOf = `select id from part where json_extract(data, '$.state.metadata.sessionId') = ?1
		and json_extract(data, '$.state.time.start') <= ?2 and coalesce(json_extract(data, '$.state.time.end'), ?2) >= ?2`
)

// promptsBefore counts the turns of a thread before one. Where no database is it is an
// error that matches fs.ErrNotExist.
func promptsBefore(src integrations.Source, db string, t *turn) (int, error) {
	if db == "" {
		return 0, fs.ErrNotExist
	}
	for row, err := range src.Rows(db, countPrompts, t.Session, t.ID) {
		if err != nil {
			return 0, fmt.Errorf("opencode: count turns: %w", err)
		}
		if n, ok := row[0].(int64); ok {
			return int(n), nil
		}
	}
	return 0, fs.ErrNotExist
}

// past finds the sessions of the past in OpenCode's database: all of them, those that
// worked in a folder that is named, or those of another database.
func past(src integrations.Source, place integrations.Place) iter.Seq2[integrations.Session, error] {
	return func(yield func(integrations.Session, error) bool) {
		env := func(key string) string {
			if place.Env != nil && key != "HOME" {
				return place.Env(key)
			}
			return place.Home
		}
		db, folder := database(env), place.Path
		if strings.HasSuffix(folder, ".db") {
			db, folder = folder, ""
		}
		for row, err := range src.Rows(db, rootSessions) {
			if errors.Is(err, fs.ErrNotExist) {
				return
			}
			if err != nil {
				yield(integrations.Session{}, err)
				return
			}
			s := session{ID: text(row[0]), Directory: text(row[1]), Version: text(row[2]), Time: span{Created: number(row[3])}}
			if folder != "" && !within(filepath.Clean(folder), s.Directory) {
				continue
			}
			found := integrations.Session{
				ID: s.ID, Files: []string{db}, Modified: at(number(row[4])),
				Tell: func(src integrations.Source) (integrations.Told, error) { return tell(src, db, s) },
			}
			if !yield(found, nil) {
				return
			}
		}
	}
}

// within reports whether a path is the folder or lies below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

func text(column any) string {
	s, _ := column.(string)
	return s
}

func number(column any) int64 {
	switch n := column.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

// stored is a message as the database holds it.
type stored struct {
	message
	parts []part
}

// spoken reports whether the user typed or attached something, or a subagent reports: what
// begins a turn.
func (m *stored) spoken() bool {
	for _, p := range m.parts {
		if p.Type != compaction && !p.Synthetic || p.reports() {
			return true
		}
	}
	return false
}

// goesOn reports whether OpenCode wrote the message to go on with what it was doing: a
// compaction that nobody asked for, and the request after it.
func (m *stored) goesOn() bool {
	for _, p := range m.parts {
		if p.Type == compaction {
			return p.Auto
		}
		if p.Synthetic && strings.HasPrefix(p.Text, "The following tool was executed by the user") {
			return false
		}
	}
	return true
}

// messages reads a session's messages with their parts, oldest first.
func messages(src integrations.Source, db, id string) ([]*stored, error) {
	var list []*stored
	byID := map[string]*stored{}
	for row, err := range src.Rows(db, messagesOf, id) {
		if err != nil {
			return nil, err
		}
		m := &stored{}
		if lenient(unmarshal(row[1], &m.message)) != nil {
			continue
		}
		m.ID, m.Session = text(row[0]), id
		list, byID[m.ID] = append(list, m), m
	}
	for row, err := range src.Rows(db, partsOf, id) {
		if err != nil {
			return nil, err
		}
		m := byID[text(row[0])]
		var p part
		if m == nil || lenient(unmarshal(row[2], &p)) != nil {
			continue
		}
		p.Message, p.ID = m.ID, text(row[1])
		if p.Type != "file" {
			p.slim()
		}
		m.parts = append(m.parts, p)
	}
	return list, nil
}

// end is when the message was complete, as far as that is known.
func (m *stored) end() int64 { return cmp.Or(m.Time.Completed, m.Time.Created) }
