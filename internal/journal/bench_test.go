package journal

import (
	"fmt"
	"path/filepath"
	"testing"
)

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{400, 4 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			state, err := Open(filepath.Join(b.TempDir(), "tracesmith", "v1"))
			if err != nil {
				b.Fatal(err)
			}
			data := make([]byte, size)
			for i := range data {
				data[i] = 'x'
			}
			data[0], data[size-1] = '"', '"'
			b.SetBytes(int64(size))
			for i := 0; b.Loop(); i++ { // a session's journal is bounded
				s := state.Session("toy", fmt.Sprint(i*size/(MaxJournal/2)))
				if err := s.Append(Entry{Event: "x", Data: data}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	state, err := Open(filepath.Join(b.TempDir(), "tracesmith", "v1"))
	if err != nil {
		b.Fatal(err)
	}
	s := state.Session("toy", "s")
	const entries = 1000
	for range entries {
		if err := s.Append(Entry{Event: "x", Data: []byte(`{"path":"/home/dev/transcript.jsonl","size":12345}`)}); err != nil {
			b.Fatal(err)
		}
	}
	to, err := s.Sizes()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(to[journalName])
	for b.Loop() {
		for _, err := range s.Read(nil, to) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
