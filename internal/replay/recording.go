package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/internal/regular"
)

// recordedHome is the home directory recordings are written with.
const recordedHome = "/home/dev"

// maxLine bounds one line of a recording: a hook's payload may be 32 MiB.
const maxLine = 64 << 20

// Recording is a session as it was recorded.
type Recording struct {
	Steps  []Step // in the order of their times
	home   string // the folder with the agent's files
	prefix string // the path they have in the recording
}

// Step is one call of a hook.
type Step struct {
	At    time.Time
	Event string
	Body  []byte         // standard input, or the argument that takes its place
	Argv  []string       // arguments, for programs that take their event there
	Lines map[string]int // lines on disk then, by path

	PID    int  // the process whose stream the line was in, where the recording says
	parent int  // the process that started that one
	Hangup bool // the stream ended: there is no more to the step
}

// Load reads a recording's folder.
func Load(dir string) (*Recording, error) {
	rec := &Recording{home: filepath.Join(dir, "home"), prefix: recordedHome}
	if steps, err := readSteps(filepath.Join(dir, "events.jsonl"), parseLine); err == nil {
		rec.Steps = hungUp(steps)
		return rec, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	hooks, err := readSteps(filepath.Join(dir, "hooks.jsonl"), parseStep)
	if err != nil {
		return nil, err
	}
	notify, err := readSteps(filepath.Join(dir, "notify.jsonl"), parseStep)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	rec.Steps = slices.Concat(hooks, notify)
	slices.SortStableFunc(rec.Steps, func(a, b Step) int { return a.At.Compare(b.At) })
	return rec, nil
}

// hungUp adds the end of each stream: after its last line, and not before those of the
// processes that it started. Lines stay in their order: that is what a pipe keeps.
func hungUp(steps []Step) []Step {
	parents := map[int]int{}
	last := map[int]int{}
	for i, s := range steps {
		parents[s.PID] = s.parent
		for _, pid := range line(s.PID, parents) {
			last[pid] = i
		}
	}
	clear(parents)
	var all []Step
	for i, s := range steps {
		all = append(all, s)
		parents[s.PID] = s.parent
		for _, pid := range line(s.PID, parents) {
			if last[pid] == i {
				all = append(all, Step{At: s.At, PID: pid, Hangup: true})
			}
		}
	}
	return all
}

// line lists a process and those it descends from, as far as they have streams.
func line(pid int, parents map[int]int) []int {
	list := []int{pid}
	for {
		pid = parents[pid]
		if _, streams := parents[pid]; !streams || pid == 0 || slices.Contains(list, pid) {
			return list
		}
		list = append(list, pid)
	}
}

// parseLine reads a line of a shim's stream. All of it is the payload.
func parseLine(text []byte) (Step, error) {
	var in struct {
		T    int64 `json:"t"` // milliseconds
		PID  int   `json:"pid"`
		PPID int   `json:"ppid"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return Step{}, err
	}
	return Step{At: time.UnixMilli(in.T).UTC(), Body: bytes.TrimSpace(text), PID: in.PID, parent: in.PPID}, nil
}

func readSteps(path string, parse func([]byte) (Step, error)) ([]Step, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	defer f.Close()
	var steps []Step
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		text, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			if len(text) > maxLine {
				return nil, fmt.Errorf("replay: %s: line %d is longer than %d bytes", path, n, maxLine)
			}
			step, err := parse(text)
			if err != nil {
				return nil, fmt.Errorf("replay: %s: line %d: %w", path, n, err)
			}
			steps = append(steps, step)
		}
		if errors.Is(err, io.EOF) {
			return steps, nil
		}
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
	}
}

func parseStep(text []byte) (Step, error) {
	var in struct {
		At    time.Time       `json:"at"`
		Event string          `json:"event"`
		Stdin json.RawMessage `json:"stdin"`
		Argv  json.RawMessage `json:"argv"` // the argument: what a program took its event from
		Lines map[string]int  `json:"lines"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return Step{}, err
	}
	step := Step{At: in.At, Event: in.Event, Body: in.Stdin, Lines: in.Lines}
	if len(in.Stdin) == 0 && len(in.Argv) > 0 {
		step.Body, step.Argv = in.Argv, []string{string(compact(in.Argv))}
	}
	var asText string
	if json.Unmarshal(in.Stdin, &asText) == nil { // what was no JSON was recorded as a string
		step.Body = []byte(asText)
	}
	var asRaw struct {
		Text *string `json:"_raw"` // or so
	}
	if json.Unmarshal(in.Stdin, &asRaw) == nil && asRaw.Text != nil {
		step.Body = []byte(*asRaw.Text)
	}
	return step, nil
}
