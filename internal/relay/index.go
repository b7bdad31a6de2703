package relay

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/tracesmith/tracesmith/internal/atomicfile"
)

// Bounds of the index. Of older turns only the last of each thread is remembered.
const (
	maxIndex     = 40_000 // lines at which it is shortened
	keptIndex    = 20_000
	maxIndexLine = 64 << 10
	maxNames     = 8 << 10 // bytes of a thread's and a turn's names together; escaped six times as long
)

var errLongName = errors.New("relay: index: the names of a thread and its turn are too long")

// place says which turn a native trace belongs to.
type place struct {
	Trace  string `json:"trace"`
	Thread string `json:"thread"`
	Turn   string `json:"turn"`
	Number int    `json:"number"` // of the turn in its thread, from 1; 0: of no turn
}

// session is the name of the turn's journal.
func (p place) session() string { return url.QueryEscape(p.Thread) + " " + p.Turn }

// index knows the turns of all traces that came by. It is a file of lines, each
// written before anything of its trace is. Safe for concurrent use.
type index struct {
	mu      sync.Mutex
	file    *os.File
	torn    bool // the last line may have got to the disk in part
	traces  map[string]place
	turns   map[string]int   // number, by the turn's session
	threads map[string]place // the newest turn of each
}

// openIndex reads the index in dir, and shortens it if it is long.
func openIndex(dir string) (*index, error) {
	x := &index{traces: map[string]place{}, turns: map[string]int{}, threads: map[string]place{}}
	path := filepath.Join(dir, indexName)
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("relay: index: %w", err)
	}
	var all []place
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, maxIndexLine)
	for lines.Scan() {
		var p place
		if json.Unmarshal(lines.Bytes(), &p) == nil && p.Trace != "" { // else a line cut short by a kill
			all = append(all, p)
			x.add(p)
		}
	}
	if len(all) > maxIndex {
		if err := x.shorten(path, all); err != nil {
			return nil, err
		}
	}
	if x.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("relay: index: %w", err)
	}
	if len(raw) > 0 && raw[len(raw)-1] != '\n' {
		_, err = x.file.Write([]byte{'\n'})
	}
	return x, err
}

func (x *index) shorten(path string, all []place) error {
	var out bytes.Buffer
	for i, p := range all {
		if i < len(all)-keptIndex && x.threads[p.Thread] != p {
			continue
		}
		line, err := json.Marshal(p)
		if err != nil {
			return fmt.Errorf("relay: index: %w", err)
		}
		out.Write(append(line, '\n'))
	}
	return atomicfile.Write(path, out.Bytes())
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

func (x *index) close() error { return x.file.Close() }

// find returns the turn of a trace that came by before.
func (x *index) find(trace string) (place, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p, ok := x.traces[trace]
	return p, ok
}

// enter returns the turn of a trace, which it may be the first to tell of. Then leave is
// told of the turn that the thread has left for it, if it has: before the index is, so
// that a relay that is killed in between does so again. native is the number that the
// agent gives the turn, which begins anew with every start of the agent. Without leave the
// trace is no turn.
func (x *index) enter(trace, thread, turn string, native int, leave func(place) error) (p place, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p, ok := x.traces[trace]; ok {
		return p, nil
	}
	p = place{Trace: trace, Thread: cmp.Or(thread, trace), Turn: cmp.Or(turn, trace)}
	if len(p.Thread)+len(p.Turn) > maxNames {
		return p, errLongName
	}
	number, again := x.turns[p.session()]
	switch {
	case leave == nil:
		number = 0
	case !again:
		last, known := x.threads[p.Thread]
		number = max(last.Number+1, native)
		if known {
			if err := leave(last); err != nil {
				return p, err
			}
		}
	}
	p.Number = number
	line, err := json.Marshal(p)
	if err != nil {
		return p, fmt.Errorf("relay: index: %w", err)
	}
	if err := x.write(line); err != nil {
		return p, fmt.Errorf("relay: index: %w", err)
	}
	if err := x.file.Sync(); err != nil {
		return p, fmt.Errorf("relay: index: %w", err)
	}
	x.add(p)
	return p, nil
}

// write adds a line, and keeps it apart from what a full disk has left of one before.
func (x *index) write(line []byte) error {
	if x.torn {
		line = append([]byte{'\n'}, line...)
	}
	_, err := x.file.Write(append(line, '\n'))
	x.torn = err != nil
	return err
}
