package githead

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"
)

const (
	// maxPacked bounds a packed-refs file that has to be read from its start;
	// 200,000 references take 12 MB.
	maxPacked = 64 << 20
	// maxPackedLine bounds one line: a hash and a name.
	maxPackedLine = 4 << 10
)

// packed looks a reference up in a packed-refs file. git has sorted the file
// since 2018 and says so in its first line; then a binary search reads a dozen
// lines of a file that may be megabytes long.
func packed(path, name string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	first, err := lineAt(file, 0)
	if err != nil {
		return ""
	}
	if bytes.HasPrefix(first, []byte("# pack-refs with:")) && bytes.Contains(first, []byte(" sorted")) {
		return search(file, int64(len(first)), info.Size(), name)
	}
	return walk(io.LimitReader(file, maxPacked), name)
}

// search finds name among the sorted lines between low and high. low is always
// the start of a line.
func search(file io.ReaderAt, low, high int64, name string) string {
	for low < high {
		start, line, err := lineAround(file, low, low+(high-low)/2)
		if err != nil {
			return ""
		}
		next := start + int64(len(line))
		if line[0] == '^' && start > low {
			// The commit of the annotated tag on the line before: look at that one.
			if start, line, err = lineAround(file, low, start-1); err != nil {
				return ""
			}
		}
		hash, ref, ok := entry(line)
		switch {
		case !ok || ref < name:
			low = next
		case ref > name:
			high = start
		default:
			return hash
		}
	}
	return ""
}

// walk looks for name line by line.
func walk(r io.Reader, name string) string {
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if hash, ref, ok := entry(line); ok && ref == name {
			return hash
		}
		if err != nil {
			return ""
		}
	}
}

// entry takes "<hash> <name>\n" apart.
func entry(line []byte) (hash, ref string, ok bool) {
	hash, ref, ok = strings.Cut(strings.TrimRight(string(line), "\r\n"), " ")
	return hash, ref, ok && isHash(hash)
}

// lineAround returns the line that holds the byte at offset, and where it
// starts, which is not before low.
func lineAround(file io.ReaderAt, low, offset int64) (start int64, line []byte, err error) {
	from := max(low, offset-maxPackedLine)
	before := make([]byte, offset-from)
	if _, err := file.ReadAt(before, from); err != nil {
		return 0, nil, err
	}
	start = from
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		start = from + int64(i) + 1
	} else if from > low {
		return 0, nil, io.ErrUnexpectedEOF // a line too long to be one of git's
	}
	line, err = lineAt(file, start)
	return start, line, err
}

// lineAt returns the line that starts at offset, with its newline if it has one.
func lineAt(file io.ReaderAt, offset int64) ([]byte, error) {
	buf := make([]byte, maxPackedLine)
	n, err := file.ReadAt(buf, offset)
	if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
		return buf[:i+1], nil
	}
	if err == nil {
		return nil, io.ErrUnexpectedEOF
	}
	if n == 0 {
		return nil, err
	}
	return buf[:n], nil // the last line, without a newline
}
