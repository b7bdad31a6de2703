package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/internal/redact"
)

const (
	mega     = 1 << 20
	hookSize = 64 << 10
	rounds   = 9
)

// speed tells how long the passes take. A busy machine is slow at times: of the full
// pass the fastest time of each document counts, of the hook's the middle of all.
func speed(w io.Writer, benign []text) {
	var all strings.Builder
	for _, t := range benign {
		all.WriteString(t.body)
	}
	body := all.String()
	docs := documents(body, mega)
	size := 0
	for _, doc := range docs {
		size += len(doc)
	}
	var fastest time.Duration
	for _, doc := range docs {
		fastest += times(rounds, func() { must(redact.JSON(doc)) })[0]
	}
	fmt.Fprintf(w, "full pass\t%.0f MB/s\tgoal 50\t%.1f MB, the fastest of %d rounds\n", rate(size, fastest), float64(size)/1e6, rounds)

	small := documents(body, hookSize)
	var hook []time.Duration
	for _, doc := range small {
		hook = append(hook, times(3, func() { must(redact.Fast(doc)) })...)
	}
	slices.Sort(hook)
	fmt.Fprintf(w, "hook pass, 64 KB\t%.2f ms\tgoal 1\tmiddle of %d; 99%% within %.2f ms\n", ms(hook[len(hook)/2]), len(hook), ms(hook[len(hook)*99/100]))

	big := strings.Repeat(body, 1+10*mega/len(body))[:10*mega]
	doc := marshal(map[string]any{"stdout": big[:5*mega] + "\nPASSWORD=hunter22\n" + big[5*mega:]})
	var clean []byte
	took := times(3, func() { clean = must(redact.JSON(doc)) })
	fmt.Fprintf(w, "10 MB output\t%.0f ms\t\tthe password in its middle is gone: %v\n", ms(took[0]), !strings.Contains(string(clean), "PASSWORD=hunter22"))
}

// documents cuts a text into JSON documents of some size.
func documents(body string, size int) (docs [][]byte) {
	for len(body) > size {
		docs = append(docs, marshal(map[string]any{"tool_response": map[string]any{"stdout": body[:size]}}))
		body = body[size:]
	}
	return docs
}

// times runs f and returns how long it took, the shortest first.
func times(n int, f func()) []time.Duration {
	took := make([]time.Duration, n)
	for i := range took {
		start := time.Now()
		f()
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took
}

func must[T ~[]byte](doc T, err error) T {
	if err != nil {
		panic(err)
	}
	return doc
}

func rate(size int, took time.Duration) float64 { return float64(size) / 1e6 / took.Seconds() }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
