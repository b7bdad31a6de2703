package capture

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/githead"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/procid"
	"github.com/tracesmith/tracesmith/internal/redact"
)

// Config is one call of the hook.
type Config struct {
	Args   []string // the agent's name, then what the agent added
	Env    func(string) string
	Stdin  io.Reader
	Stdout io.Writer

	// Find returns the agent of a name.
	Find func(name string) (*integrations.Agent, bool)
	// All lists the agents that may claim a payload of another's hook; nil: none.
	All func() []*integrations.Agent
	// Spawn starts a drainer for a session's key that outlives the hook.
	Spawn func(stateDir, session string) error
	// Deliver runs a drainer and waits for it, at most for the time given.
	Deliver func(session string, limit time.Duration) error
	// MaxInput bounds standard input, in bytes; 0: 32 MiB.
	MaxInput int
	// Exit ends the process from the watchdog; nil: os.Exit.
	Exit func(code int)
}

// Limits of one event. What is longer is dropped and counted.
const (
	defaultMaxInput = 32 << 20
	maxData         = 16 << 20
	maxEvent        = 128
	maxSession      = 1024
	maxPath         = 32 << 10
)

// hook is the state of one call.
type hook struct {
	Config
	started time.Time
	agent   *integrations.Agent // whose name the hook was called with
	owner   *integrations.Agent // whose event it is, once that is known
	event   string              // as far as it is known
	body    []byte
	notice  []byte // what the user is told in place of the usual reply
	dog     *watchdog
	stream  *stream // the line is one of many; nil: the only one
}

// Run takes one event or, where the arguments have [StreamFlag], a stream of them.
// When it returns the process should exit with 0.
func Run(c Config) {
	h := &hook{Config: c, started: time.Now()}
	if h.Exit == nil {
		h.Exit = os.Exit
	}
	if h.MaxInput <= 0 {
		h.MaxInput = defaultMaxInput
	}
	if len(c.Args) > 0 {
		if agent, ok := c.Find(c.Args[0]); ok {
			h.agent = agent
		}
	}
	h.dog = &watchdog{bite: h.giveUp}
	defer h.reply()
	if config.Disabled(c.Env) {
		return
	}
	if slices.Contains(c.Args, StreamFlag) {
		runStream(h)
		return
	}
	ignoreSignals(h.shielded())
	h.dog.start()
	defer h.dog.stop()
	defer func() {
		if r := recover(); r != nil {
			h.dog.settle(func() { h.lost(panicked(r)) })
		}
	}()
	if l := h.capture(); l != nil {
		h.dog.settle(func() { h.lost(l) })
	}
}

// capture is the way from the input to the journal.
func (h *hook) capture() *loss {
	if h.agent == nil {
		return &loss{reason: reasonAgent}
	}
	if l := h.input(); l != nil {
		return l
	}
	k, l := h.keep(procid.Caller())
	if k == nil {
		return l
	}
	h.dog.kept.Store(true)
	h.greet(k.event, k.settings, k.state)
	return h.wake(k.event, k.settings, k.state, k.session, k.entry.Proc.PID)
}

// kept is an event that is in the journal.
type kept struct {
	event    integrations.Hook
	entry    journal.Entry
	settings config.Config
	state    *journal.State
	session  *journal.Session
}

// keep is the way from the payload to the journal. It returns nothing for an event that
// is not to be traced.
func (h *hook) keep(parent int) (*kept, *loss) {
	payload := integrations.Payload{Body: h.body, Args: h.Args[1:], Env: h.Env, Exists: exists, Parent: parent}
	h.settleOwner(payload)
	route, event, l := h.route(payload)
	switch {
	case l == nil:
	case l.reason == reasonIdle:
		return nil, nil
	default:
		return nil, l
	}
	settings, unreadable := h.settings(cmp.Or(route.CWD, config.Unknown))
	if unreadable != nil {
		// Tracing goes on with what could be read; the drainer will say so too.
		h.lost(&loss{reason: reasonConfig, err: unreadable})
	}
	if !settings.Enabled {
		return nil, nil
	}
	entry, l := h.entry(payload, route, redact.Pass{Allow: settings.Allow})
	if l != nil {
		return nil, l
	}
	entry.Policy = policy(settings, unreadable)
	state, err := h.state()
	if err != nil {
		return nil, &loss{reason: reasonState, err: err}
	}
	session := state.Session(h.owner.Name, route.Session)
	if err := session.Append(entry); err != nil {
		return nil, appendLoss(err)
	}
	return &kept{event, entry, settings, state, session}, nil
}

// settings are those of a directory, for the agent whose event it is.
func (h *hook) settings(dir string) (config.Config, error) {
	if h.stream != nil {
		return h.stream.settings(h.owner.Name, dir)
	}
	return config.Load(config.Options{Env: h.Env, Dir: dir, Agent: h.owner.Name})
}

// settleOwner lets the payload decide whose event it is: an agent may run the hooks
// in another's settings, and its event then comes by that one's name.
func (h *hook) settleOwner(p integrations.Payload) {
	h.owner = h.agent
	if h.All == nil {
		return
	}
	for _, agent := range h.All() {
		if agent.Claims != nil && agent.Claims(p) {
			h.owner = agent
			return
		}
	}
}

// route finds where the event belongs and whether it is one we asked for.
func (h *hook) route(p integrations.Payload) (integrations.Route, integrations.Hook, *loss) {
	peek := h.owner.Peek
	if h.stream != nil {
		peek = h.stream.peek(h.owner)
	}
	route, err := peek(p)
	if route.Lost > 0 {
		h.record(&loss{reason: reasonPipe, n: route.Lost})
	}
	if errors.Is(err, integrations.ErrForeign) {
		return route, integrations.Hook{}, &loss{reason: reasonForeign}
	}
	if errors.Is(err, integrations.ErrIdle) {
		return route, integrations.Hook{}, &loss{reason: reasonIdle}
	}
	if err != nil {
		return route, integrations.Hook{}, &loss{reason: journal.DropBadInput}
	}
	if len(route.Event) > maxEvent || len(route.Session) > maxSession || len(route.CWD) > maxPath {
		return route, integrations.Hook{}, &loss{reason: journal.DropTooLarge}
	}
	event, ok := h.owner.Hook(route.Event)
	if !ok {
		return route, event, &loss{reason: journal.DropUnknown}
	}
	h.event = event.Event
	if route.Session == "" {
		return route, event, &loss{reason: journal.DropBadInput}
	}
	if route.CWD == "" {
		route.CWD, _ = os.Getwd()
	}
	return route, event, nil
}

// entry makes the journal's line: what the reducer reads, without secrets.
func (h *hook) entry(p integrations.Payload, route integrations.Route, pass redact.Pass) (journal.Entry, *loss) {
	data, err := h.owner.Project(p)
	switch {
	case err != nil:
		return journal.Entry{}, &loss{reason: journal.DropBadInput}
	case len(data) > maxData:
		return journal.Entry{}, &loss{reason: journal.DropTooLarge}
	}
	if data, err = pass.Fast(data); err != nil {
		return journal.Entry{}, &loss{reason: journal.DropRedaction}
	}
	head := githead.Read(route.CWD)
	start, boot := procid.Of(route.PID)
	return journal.Entry{
		At:      h.started,
		Event:   route.Event,
		Session: route.Session,
		CWD:     route.CWD,
		Head:    integrations.Head{Branch: head.Branch, SHA: head.SHA},
		Proc:    journal.Proc{PID: route.PID, Start: start, Boot: boot},
		Data:    data,
	}, nil
}

// policy writes down what the settings said: the drainer may run under others. Where
// they could not be read no content may leave: they may have said so.
func policy(settings config.Config, unreadable error) journal.Policy {
	if unreadable != nil {
		return journal.Policy{Content: string(config.Metadata)}
	}
	p := journal.Policy{To: settings.Destination(), Key: settings.KeyHash(), Plain: !settings.Redact, Restraint: settings.Restraint()}
	if settings.Content != config.Full {
		p.Content = string(settings.Content)
	}
	return p
}

// state opens the state directory.
func (h *hook) state() (*journal.State, error) {
	dir, err := journal.DefaultDir(h.Env)
	if err != nil {
		return nil, err
	}
	return journal.Open(dir)
}

// reply prints what the agent waits for, once.
func (h *hook) reply() {
	text := h.notice
	if text == nil && h.owner != nil {
		text = h.owner.Reply
	} else if text == nil {
		text = h.usual()
	}
	h.print(text)
}

// usual is the agent's fixed reply.
func (h *hook) usual() []byte {
	if h.agent == nil {
		return nil
	}
	return h.agent.Reply
}

func (h *hook) print(text []byte) {
	if len(text) > 0 && h.dog.first() {
		_, _ = h.Stdout.Write(text)
	}
}

// shielded reports whether one of the agent's hooks is killed as soon as it
// began. Which one this is stands in the input, and reading that takes too long.
func (h *hook) shielded() bool {
	if h.agent == nil {
		return false
	}
	for _, event := range h.agent.Hooks {
		if event.Shield {
			return true
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
