package history

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/integrations"
	claudecode "github.com/tracesmith/tracesmith/integrations/claude-code"
	"github.com/tracesmith/tracesmith/internal/drain"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/runtypes"
)

// BenchmarkImport imports 1,000 sessions.
func BenchmarkImport(b *testing.B) {
	const sessions = 1000
	home := b.TempDir()
	text, err := os.ReadFile(filepath.Join(recordingsDir, "parallel/home/.claude/projects/-home-dev-widgets/e2982158-ec2e-46b1-96cc-27bce6165265.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(home, ".claude/projects/-home-dev-widgets")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	for n := range sessions {
		id := fmt.Sprintf("e2982158-ec2e-46b1-96cc-%012d", n)
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(strings.ReplaceAll(string(text), "e2982158-ec2e-46b1-96cc-27bce6165265", id)), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(text)) * sessions)
	for b.Loop() {
		state, err := journal.Open(filepath.Join(b.TempDir(), "tracesmith", "v1"))
		if err != nil {
			b.Fatal(err)
		}
		to := drain.Destination{ID: "one", Export: drain.Plain(func(context.Context, []runtypes.Op) ([]runtypes.Op, error) { return nil, nil })}
		i, err := New(Config{
			State: state, Agent: claudecode.Agent(), Destinations: []drain.Destination{to}, Redact: redact.Run,
			Place: integrations.Place{Home: home, Env: func(string) string { return "" }},
			Now:   func() time.Time { return time.Now().Add(24 * time.Hour) },
		})
		if err != nil {
			b.Fatal(err)
		}
		report, err := i.Run(b.Context())
		if err != nil || report.Total().New < sessions {
			b.Fatal(report, err)
		}
	}
}
