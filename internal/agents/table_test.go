package agents_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agents"
	"github.com/tracesmith/tracesmith/runtypes"
)

var update = flag.Bool("update", false, "rewrite the README's table of agents")

const (
	readme = "../../README.md"
	begin  = "<!-- agents: written by go test ./internal/agents -update -->\n"
	end    = "<!-- /agents -->\n"
)

// The README says of each agent what its recordings show, and nothing else.
func TestTheReadmeSaysWhatEachAgentsRecordingsShow(t *testing.T) {
	raw, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), begin)
	old, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("the README has no place for the table: %s", begin)
	}
	want := table(t)
	if old == want {
		return
	}
	if *update {
		if err := os.WriteFile(readme, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the README has\n%s\nthe recordings show\n%s\ngo test ./internal/agents -update rewrites it", old, want)
}

func TestEveryAgentIsRecorded(t *testing.T) {
	for _, agent := range agents.All() {
		shown := show(t, agent)
		for _, column := range []string{"root", "llm", "tool", "interrupted", "tokens"} {
			if shown[column] == "" {
				t.Errorf("no recording of %s shows: %s", agent.Runtime, column)
			}
		}
	}
}

var columns = []string{"root", "llm", "tool", "subagent", "interrupted", "tokens", "cost", "compaction", "resume", "import"}

func table(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "| agent | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat(":-:|", len(columns)))
	for _, agent := range agents.All() {
		shown := show(t, agent)
		cells := []string{agent.Runtime}
		for _, column := range columns {
			cell := shown[column]
			if cell == "" {
				cell = "–"
			}
			cells = append(cells, cell)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.String()
}

// show reads an agent's goldens.
func show(t *testing.T, agent *integrations.Agent) map[string]string {
	t.Helper()
	shown := map[string]string{}
	if agent.Past != nil {
		shown["import"] = "✓"
	}
	files, err := filepath.Glob(filepath.Join("../../integrations", agent.Name, "testdata", "*", "runs.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no goldens: %v", agent.Name, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var runs []runtypes.Wire
		if err := json.Unmarshal(raw, &runs); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		look(runs, shown)
	}
	return shown
}

// look notes what one recording shows.
func look(runs []runtypes.Wire, shown map[string]string) {
	parents := map[string]bool{}
	turns := map[any][]any{} // their numbers, by conversation
	for _, run := range runs {
		parents[run.ParentRunID] = true
	}
	for _, run := range runs {
		meta := run.Metadata()
		switch kind := run.Kind(); {
		case kind == runtypes.KindSubagent:
			if parents[run.ID] { // with what it did
				shown["subagent"] = "✓"
			}
		case kind == runtypes.KindInterrupted:
			shown["interrupted"] = "✓"
			shown["root"] = "✓"
			turns[meta["thread_id"]] = append(turns[meta["thread_id"]], meta["turn_number"])
		case kind == runtypes.KindRoot:
			shown["root"] = "✓"
			turns[meta["thread_id"]] = append(turns[meta["thread_id"]], meta["turn_number"])
		case meta["ls_agent_type"] == string(runtypes.AgentCompaction) && kind == runtypes.KindChain:
			shown["compaction"] = "✓"
		case kind == runtypes.KindLLM, kind == runtypes.KindTool:
			shown[string(kind)] = "✓"
		}
		lookAtTokens(meta, shown)
	}
	for _, numbers := range turns {
		if len(numbers) > 1 && distinct(numbers) {
			shown["resume"] = "✓"
		}
	}
}

func lookAtTokens(meta map[string]any, shown map[string]string) {
	usage, ok := meta["usage_metadata"].(map[string]any)
	if !ok {
		return
	}
	if meta["usage_scope"] == nil {
		shown["tokens"] = "per call"
	} else if shown["tokens"] == "" {
		shown["tokens"] = "per turn"
	}
	switch {
	case usage["total_cost"] != nil:
		shown["cost"] = "its own"
	case shown["cost"] == "" && meta["ls_model_name"] != nil && meta["ls_provider"] != nil:
		shown["cost"] = "by model"
	}
}

func distinct(numbers []any) bool {
	for i, n := range numbers {
		if n == nil || slices.Contains(numbers[:i], n) {
			return false
		}
	}
	return true
}
