package capture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/procid"
)

// StreamFlag among the arguments says that each line of standard input is an event.
const StreamFlag = "--stream"

const (
	freshFor = time.Second // how long settings are believed without another look
	logEvery = time.Minute // how often a reason for losses is logged; each is counted
	maxKept  = 1024        // sessions that are told when the stream ends
	maxWoken = 8           // and for which a drainer is started then; it adopts the others
)

// stream is one reader's way through the lines that a shim pipes to it, for as long as
// the agent's process lives. Its end is that process's death, or as good as that.
type stream struct {
	hook   *hook // what all lines have in common
	parent int   // the agent's process
	peeks  map[string]func(integrations.Payload) (integrations.Route, error)
	places map[place]*placed
	logged map[string]time.Time // when a reason was last logged
	kept   []*kept              // the last event of each session, those that were silent longest first
}

// place is where settings are read for.
type place struct{ agent, dir string }

// placed is what they said.
type placed struct {
	config config.Config
	err    error
	at     time.Time
}

// runStream takes events until standard input ends.
func runStream(h *hook) {
	outlive()
	s := &stream{
		hook: h, parent: procid.Caller(),
		peeks:  map[string]func(integrations.Payload) (integrations.Route, error){},
		places: map[place]*placed{}, logged: map[string]time.Time{},
	}
	h.stream = s
	if h.agent == nil {
		h.lost(&loss{reason: reasonAgent})
		return
	}
	in := bufio.NewReaderSize(h.Stdin, 64<<10)
	for {
		text, long, err := readLine(in, h.MaxInput)
		if text = bytes.TrimSpace(text); long || len(text) > 0 {
			s.line(text, long)
		}
		if err != nil {
			break
		}
	}
	s.hangUp()
}

// readLine reads a line. Of one that is longer than the limit the rest is skipped. The
// last one may lack its newline.
func readLine(in *bufio.Reader, limit int) (text []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if !long {
			text = append(text, part...)
		}
		if len(text) > limit+1 {
			text, long = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, long, err
		}
	}
}

// line takes one event. Whatever is wrong with it, the next one comes.
func (s *stream) line(text []byte, long bool) {
	h := &hook{Config: s.hook.Config, started: time.Now(), agent: s.hook.agent, body: text, dog: s.hook.dog, stream: s}
	defer func() {
		if r := recover(); r != nil {
			h.lost(panicked(r))
		}
	}()
	if l := s.take(h, long); l != nil {
		h.lost(l)
	}
}

func (s *stream) take(h *hook, long bool) *loss {
	switch {
	case long:
		return &loss{reason: journal.DropTooLarge}
	case len(h.body) <= checked && !json.Valid(h.body):
		return &loss{reason: journal.DropBadInput}
	}
	k, l := h.keep(s.parent)
	if k == nil {
		return l
	}
	s.note(k)
	if !k.event.Wakes && !k.event.Settles || !delivers(k.settings) {
		return nil
	}
	return s.spawn(k)
}

// note keeps a session's last event.
func (s *stream) note(k *kept) {
	k.entry.Data = nil
	for i, each := range s.kept {
		if each.session.Key() == k.session.Key() {
			s.kept = append(s.kept[:i], s.kept[i+1:]...)
			break
		}
	}
	if len(s.kept) >= maxKept {
		s.kept = s.kept[1:] // the death of the process will say the same of it
	}
	s.kept = append(s.kept, k)
}

// spawn starts a drainer if none is at work. Nothing waits for it: the lines go on.
func (s *stream) spawn(k *kept) *loss {
	if k.state.Resting(time.Now()) || draining(k.session) {
		return nil
	}
	reap()
	if err := s.hook.Spawn(k.state.Dir(), k.session.Key()); err != nil {
		return &loss{reason: reasonSpawn, err: err}
	}
	return nil
}

// hangUp tells each session that its stream is over, and has it delivered.
func (s *stream) hangUp() {
	data, err := json.Marshal(integrations.Stream{PID: s.parent})
	if err != nil {
		return // a number always encodes
	}
	now := time.Now()
	for _, k := range s.kept {
		k.entry.ID, k.entry.At, k.entry.Event, k.entry.Data = "", now, integrations.Hangup, data
		if err := k.session.Append(k.entry); err != nil {
			s.hook.record(appendLoss(err))
		}
	}
	until := now.Add(inlineLimit)
	for i := len(s.kept) - 1; i >= 0; i-- { // what the user did last is wanted first
		if err := s.deliver(s.kept[i], until, len(s.kept)-i <= maxWoken); err != nil {
			s.hook.record(err)
		}
	}
}

// deliver sees to it that somebody delivers a session at the end: this process itself
// where nothing in the background would outlive the agent.
func (s *stream) deliver(k *kept, until time.Time, wanted bool) *loss {
	switch {
	case !delivers(k.settings):
		return nil
	case inline(k.settings, s.hook.Env, s.parent):
		reap()
		if err := s.hook.Deliver(k.session.Key(), max(0, time.Until(until))); err != nil {
			return &loss{reason: reasonSpawn, err: err}
		}
		return nil
	case !wanted:
		return nil
	}
	return s.spawn(k)
}

// peek is the agent's for this stream.
func (s *stream) peek(agent *integrations.Agent) func(integrations.Payload) (integrations.Route, error) {
	if agent.Stream == nil {
		return agent.Peek
	}
	if s.peeks[agent.Name] == nil {
		s.peeks[agent.Name] = agent.Stream()
	}
	return s.peeks[agent.Name]
}

// settings reads those of a directory, not more often than once in a while.
func (s *stream) settings(agent, dir string) (config.Config, error) {
	at := place{agent, dir}
	known := s.places[at]
	if known == nil || time.Since(known.at) > freshFor {
		if len(s.places) >= maxKept {
			clear(s.places)
		}
		known = &placed{at: time.Now()}
		known.config, known.err = config.Load(config.Options{Env: s.hook.Env, Dir: dir, Agent: agent})
		s.places[at] = known
	}
	return known.config, known.err
}

// mayLog reports whether a loss is worth a line in the log.
func (s *stream) mayLog(reason string) bool {
	if time.Since(s.logged[reason]) < logEvery {
		return false
	}
	s.logged[reason] = time.Now()
	return true
}
