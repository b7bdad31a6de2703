package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Stage is a recording laid out as real files that grow step by step, so that real
// hook processes and a real drainer can be driven with it. Paths and times are
// rewritten: the agent's home is a folder of its own and the session begins now.
type Stage struct {
	*Recording
	Home string // stands for the agent's home directory
}

// Stage lays the recording out below dir, an empty folder, as if it began at begin.
func (rec *Recording) Stage(dir string, begin time.Time) (*Stage, error) {
	if len(rec.Steps) == 0 {
		return nil, errors.New("replay: the recording has no events")
	}
	s := &Stage{Home: filepath.Join(dir, "home")}
	complete := filepath.Join(dir, "complete")
	rewrite := rewriter(rec.prefix, s.Home, begin.Sub(rec.Steps[0].At))

	s.Recording = &Recording{home: complete, prefix: filepath.ToSlash(s.Home)}
	for _, step := range rec.Steps {
		staged := Step{At: step.At.Add(begin.Sub(rec.Steps[0].At)), Event: step.Event, Body: rewrite(step.Body), Lines: map[string]int{}}
		for _, arg := range step.Argv {
			staged.Argv = append(staged.Argv, string(rewrite([]byte(arg))))
		}
		for path, n := range step.Lines {
			staged.Lines[string(rewrite([]byte(path)))] = n
		}
		s.Steps = append(s.Steps, staged)
	}
	err := filepath.WalkDir(rec.home, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == rec.home {
			return os.MkdirAll(complete, 0o755) // the session wrote no files
		}
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(rec.home, path)
		if err != nil {
			return err
		}
		to := filepath.Join(complete, rest)
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, rewrite(raw), 0o644)
	})
	if err != nil {
		return nil, fmt.Errorf("replay: stage: %w", err)
	}
	return s, os.MkdirAll(s.Home, 0o755)
}

// Show makes the files look as they did when the hook of step i ran.
func (s *Stage) Show(i int) error {
	f := s.files()
	f.moveTo(s.Steps[i])
	return s.show(f)
}

// ShowAll makes the files complete.
func (s *Stage) ShowAll() error {
	f := s.files()
	f.showAll()
	return s.show(f)
}

// show appends to each file what it lacks: transcripts only ever grow.
func (s *Stage) show(f *files) error {
	return filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := f.recorded(path)
		content := ""
		if strings.HasSuffix(path, ".jsonl") {
			lines, err := f.visible(name)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			content = strings.Join(lines, "")
		} else {
			raw, err := f.File(name)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			content = string(raw)
		}
		return grow(name, content)
	})
}

// grow appends to a file what its content goes beyond it.
func grow(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("replay: stage: %w", err)
	}
	have := int64(0)
	if info, err := os.Stat(path); err == nil {
		have = info.Size()
	}
	if have >= int64(len(content)) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("replay: stage: %w", err)
	}
	_, err = f.WriteString(content[have:])
	return errors.Join(err, f.Close())
}

// timestamps are RFC 3339 in UTC, as agents write them.
var timestamps = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z`)
})

// milliseconds are times since 1970, as agents write them to a field of that name.
var milliseconds = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"timestamp": ?1[0-9]{12}\b`)
})

// rewriter replaces the recorded home by another, with slashes as they need no escape in
// JSON, and moves every time by shift.
func rewriter(from, to string, shift time.Duration) func([]byte) []byte {
	return func(raw []byte) []byte {
		raw = bytes.ReplaceAll(raw, []byte(from+"/"), []byte(filepath.ToSlash(to)+"/"))
		raw = milliseconds().ReplaceAllFunc(raw, func(old []byte) []byte {
			at := len(old) - 13
			ms, err := strconv.ParseInt(string(old[at:]), 10, 64)
			if err != nil {
				return old
			}
			return strconv.AppendInt(old[:at:at], ms+shift.Milliseconds(), 10)
		})
		return timestamps().ReplaceAllFunc(raw, func(old []byte) []byte {
			at, err := time.Parse(time.RFC3339Nano, string(old))
			if err != nil {
				return old
			}
			layout := "2006-01-02T15:04:05Z"
			if i := bytes.IndexByte(old, '.'); i >= 0 {
				layout = "2006-01-02T15:04:05." + strings.Repeat("0", len(old)-i-2) + "Z"
			}
			return []byte(at.Add(shift).UTC().Format(layout))
		})
	}
}
