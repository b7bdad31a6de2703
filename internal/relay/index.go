package relay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
)

// Bounds of the index, in lines. When it is longer, of the older turns only the last of
// each thread is kept, and of those the newest.
const (
	maxIndex    = 40_000
	keptTurns   = 20_000
	keptThreads = 10_000
)

// maxNames bounds the names of a thread, a turn and its folder together, in bytes.
const maxNames = 8 << 10

var errLongName = errors.New("relay: index: the names of a thread and its turn are too long")

// place says which turn a native trace belongs to.
type place struct {
	Trace  string `json:"trace"`
	Thread string `json:"thread"`
	Turn   string `json:"turn"`
	Dir    string `json:"cwd,omitempty"` // the agent's working directory; empty: not known
	Number int    `json:"number"`        // of the turn in its thread, from 1; 0: of no turn
}

// session is the name of the turn's journal.
func (p place) session() string { return url.QueryEscape(p.Thread) + " " + p.Turn }

// index knows the turns of the traces that came by. It is a file of lines, each written
// before anything of its trace is. Safe for concurrent use.
type index struct {
	mu      sync.Mutex
	path    string
	file    *os.File // nil: to be opened
	torn    bool     // the last line may have got to the disk in part
	lines   int      // in the file
	traces  map[string]place
	turns   map[string]int   // number, by the turn's session
	threads map[string]place // the newest turn of each
}

// openIndex reads the index in dir, and shortens it if it is long.
func openIndex(dir string) (*index, error) {
	x := &index{path: filepath.Join(dir, indexName)}
	all, torn, err := x.read()
	if err != nil {
		return nil, err
	}
	x.torn = torn
	x.fill(all)
	if x.lines > maxIndex {
		if err := x.shorten(); err != nil {
			return nil, err
		}
	}
	return x, x.open()
}

// read returns the lines of the file. torn says that the last of them has no end.
func (x *index) read() (all []place, torn bool, err error) {
	raw, err := os.ReadFile(x.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("relay: index: %w", err)
	}
	for line := range bytes.Lines(raw) {
		var p place
		if json.Unmarshal(line, &p) == nil && p.Trace != "" { // else a line cut short by a kill
			all = append(all, p)
		}
	}
	return all, len(raw) > 0 && raw[len(raw)-1] != '\n', nil
}

func (x *index) fill(all []place) {
	x.lines, x.traces, x.turns, x.threads = len(all), map[string]place{}, map[string]int{}, map[string]place{}
	for _, p := range all {
		x.add(p)
	}
}

func (x *index) open() error {
	if x.file != nil {
		return nil
	}
	file, err := os.OpenFile(x.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("relay: index: %w", err)
	}
	x.file = file
	return nil
}

// shorten replaces the file by a shorter one. It is opened when it is written next.
func (x *index) shorten() error {
	all, _, err := x.read()
	if err != nil {
		return err
	}
	all = x.recent(all)
	var out bytes.Buffer
	for _, p := range all {
		line, err := json.Marshal(p)
		if err != nil {
			return fmt.Errorf("relay: index: %w", err)
		}
		out.Write(append(line, '\n'))
	}
	err = x.close() // Windows replaces no open file
	if x.file = nil; err == nil {
		err = atomicfile.Write(x.path, out.Bytes())
	}
	if err != nil {
		return fmt.Errorf("relay: index: %w", err)
	}
	x.torn = false
	x.fill(all)
	return nil
}

// recent are the lines that a shorter file has.
func (x *index) recent(all []place) (kept []place) {
	threads := 0
	for i, p := range slices.Backward(all) {
		switch {
		case i >= len(all)-keptTurns:
		case x.threads[p.Thread] == p && threads < keptThreads:
			threads++
		default:
			continue
		}
		kept = append(kept, p)
	}
	slices.Reverse(kept)
	return kept
}

func (x *index) add(p place) {
	x.traces[p.Trace] = p
	if p.Number == 0 {
		return
	}
	x.turns[p.session()] = p.Number
	if p.Number >= x.threads[p.Thread].Number {
		x.threads[p.Thread] = p
	}
}

func (x *index) close() error {
	if x.file == nil {
		return nil
	}
	return x.file.Close()
}

// find returns the turn of a trace that came by before.
func (x *index) find(trace string) (place, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p, ok := x.traces[trace]
	return p, ok
}

// enter returns the turn of a trace, which it may be the first to tell of: by what is said
// of it, whose number is the one that the agent gives the turn, and begins anew with every
// start of the agent. Then leave is told of the turn that the thread has left for it, if it
// has: before the index is, so that a relay that is killed in between does so again. Without
// leave the trace is no turn.
func (x *index) enter(said place, leave func(place) error) (p place, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p, ok := x.traces[said.Trace]; ok {
		return p, nil
	}
	p, p.Number = said, 0
	p.Thread, p.Turn = cmp.Or(p.Thread, p.Trace), cmp.Or(p.Turn, p.Trace)
	if len(p.Thread)+len(p.Turn)+len(p.Dir) > maxNames {
		return p, errLongName
	}
	if x.lines >= maxIndex {
		_ = x.shorten() // if it cannot be, it grows: the next turn tries again
	}
	if leave != nil {
		number, again := x.turns[p.session()]
		if last, known := x.threads[p.Thread]; !again {
			number = max(last.Number+1, said.Number)
			if known {
				if err := leave(last); err != nil {
					return p, err
				}
			}
		}
		p.Number = number
	}
	if err := x.write(p); err != nil {
		return p, fmt.Errorf("relay: index: %w", err)
	}
	x.add(p)
	return p, nil
}

// write adds a line, and keeps it apart from what a full disk has left of one before.
func (x *index) write(p place) error {
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := x.open(); err != nil {
		return err
	}
	if x.torn {
		line = append([]byte{'\n'}, line...)
	}
	_, err = x.file.Write(append(line, '\n'))
	x.torn = err != nil
	if err != nil {
		return err
	}
	x.lines++
	return x.file.Sync()
}
