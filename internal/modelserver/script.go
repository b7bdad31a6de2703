package modelserver

import (
	"net/http"
	"path/filepath"
)

// Summary is the scenario of a request by which the agent compacts its
// conversation. Such a call is in no record that the agent keeps.
const Summary = "summary"

// The other scenarios no prompt names: the server recognizes their requests.
const (
	unnamed      = "unnamed"      // a prompt without a scenario
	notification = "notification" // a background task reports back
)

// Script returns the built-in scenarios for an agent that works in the
// repository at dir, which holds a README.md and a main.go.
func Script(dir string) map[string]Scenario {
	all := make(map[string]Scenario)
	for _, group := range []map[string]Scenario{answers(), tools(dir), longer(), failures(), subagents(dir)} {
		for name, scenario := range group {
			all[name] = scenario
		}
	}
	return all
}

// answers use no tool.
func answers() map[string]Scenario {
	return map[string]Scenario{
		unnamed: {{Blocks: []Block{say("Widget session")}, Usage: Usage{Input: 30, Output: 5}}},
		notification: {{
			Blocks: []Block{say("The background agent finished; its report is noted.")},
			Usage:  Usage{Input: 40, Output: 14, CacheRead: 400, Write5m: 30},
		}},
		Summary: {{
			Blocks: []Block{say("<analysis>Short.</analysis>\n<summary>\n1. Primary Request: the user asked about widgets.\n2. Files: main.go.\n</summary>")},
			Usage:  Usage{Input: 900, Output: 60},
		}},
		"plain": {{
			Blocks: []Block{say("Hello from the scripted model. Two widgets are in stock.")},
			Usage:  Usage{Input: 11, Output: 17, CacheRead: 2000, Write5m: 300, Write1h: 50},
		}},
		"plain2": {{
			Blocks: []Block{say("Second answer: three widgets.")},
			Usage:  Usage{Input: 13, Output: 9, CacheRead: 2350, Write5m: 40},
		}},
		"slow": {{
			Blocks: []Block{say("An answer that begins and does not end.")},
			Usage:  Usage{Input: 10, Output: 5000, CacheRead: 1500, Write5m: 100},
			Hold:   true,
		}},
		"maxtok": cutOff(6),
		"refusal": {{
			Blocks: []Block{say("I cannot.")}, StopReason: "refusal",
			Usage: Usage{Input: 10, Output: 4},
		}},
	}
}

// cutOff reaches the output limit so many times before it comes to its end.
func cutOff(times int) Scenario {
	cut := Step{
		Blocks: []Block{say("This answer is cut off because")}, StopReason: "max_tokens",
		Usage: Usage{Input: 10, Output: 32000, CacheRead: 1500},
	}
	s := make(Scenario, 0, times+1)
	for range times {
		s = append(s, cut)
	}
	return append(s, Step{Blocks: []Block{say(" it has an end.")}, Usage: Usage{Input: 10, Output: 20, CacheRead: 1500}})
}

// tools call what the agent itself runs.
func tools(dir string) map[string]Scenario {
	in := func(name string) string { return filepath.Join(dir, name) }
	first := Usage{Input: 10, Output: 120, CacheRead: 1500, Write5m: 200}
	next := Usage{Input: 7, Output: 30, CacheRead: 1600, Write5m: 50}
	last := Usage{Input: 6, Output: 20, CacheRead: 1700, Write5m: 60}
	return map[string]Scenario{
		"thinking": {
			{Blocks: []Block{
				think("The user wants the file list. I should read README first."),
				say("I will look at the README."),
				call("Read", map[string]any{"file_path": in("README.md")}),
			}, Usage: first},
			{Blocks: []Block{think("Now I can answer."), say("The README describes the widgets.")}, Usage: last},
		},
		"parallel": {
			{Blocks: []Block{
				say("Reading and listing in parallel."),
				call("Read", map[string]any{"file_path": in("main.go")}),
				call("Read", map[string]any{"file_path": in("README.md")}),
				call("Bash", map[string]any{"command": "ls -1", "description": "List files"}),
			}, Usage: first},
			{Blocks: []Block{say("main.go prints a widget count; there are a few files.")}, Usage: last},
		},
		"failing": {
			{Blocks: []Block{
				say("Trying things that fail."),
				call("Bash", map[string]any{"command": "echo out; echo oops >&2; exit 1", "description": "Fails"}),
				call("Read", map[string]any{"file_path": in("missing.txt")}),
			}, Usage: first},
			{Blocks: []Block{ // arguments of the wrong type, and a tool that is not there
				call("Read", map[string]any{"file_path": 42}),
				call("NoSuchTool", map[string]any{"a": 1}),
			}, Usage: next},
			{Blocks: []Block{say("All four failed as expected.")}, Usage: last},
		},
		"edit": {
			{Blocks: []Block{call("Write", map[string]any{"file_path": in("notes.txt"), "content": "alpha\nbeta\n"})}, Usage: first},
			{Blocks: []Block{call("Read", map[string]any{"file_path": in("notes.txt")})}, Usage: next},
			{Blocks: []Block{call("Edit", map[string]any{
				"file_path": in("notes.txt"), "old_string": "beta", "new_string": "gamma",
			})}, Usage: next},
			{Blocks: []Block{say("Wrote and edited notes.txt.")}, Usage: last},
		},
		"slowtool": { // runs as long as the agent, so that no orphan is left when that is killed
			{Blocks: []Block{
				say("Running a slow command."),
				call("Bash", map[string]any{"command": "touch running; while kill -0 $PPID; do sleep 0.1; done", "description": "Wait"}),
			}, Usage: first},
			{Blocks: []Block{say("Waited.")}, Usage: last},
		},
	}
}

// longer calls for what takes a person, a server or a long conversation.
func longer() map[string]Scenario {
	first := Usage{Input: 10, Output: 50, CacheRead: 1500, Write5m: 100}
	last := Usage{Input: 8, Output: 22, CacheRead: 1600, Write5m: 120}
	fill := func(tokens int) Step {
		return Step{
			Blocks: []Block{call("Bash", map[string]any{"command": "seq 1 3000", "description": "Fill"})},
			Usage:  Usage{Input: tokens, Output: 50},
		}
	}
	return map[string]Scenario{
		"gated": {
			{Blocks: []Block{
				say("Waiting for a go."),
				call("Bash", map[string]any{"command": gate, "description": "Wait for a go"}),
			}, Usage: first},
			{Blocks: []Block{say("Gone.")}, Usage: last},
		},
		"mcp": {
			{Blocks: []Block{
				call("mcp__stock__lookup", map[string]any{"sku": "W-1"}),
				call("mcp__stock__fail", map[string]any{"sku": "W-2"}),
			}, Usage: first},
			{Blocks: []Block{say("W-1 has 7 in stock.")}, Usage: last},
		},
		"autocompact": { // for an agent that is told to compact at a fifth of a million tokens
			fill(20_000), fill(150_000), fill(230_000),
			{Blocks: []Block{say("Never compacted.")}, Usage: last},
		},
	}
}

// failures are the API's own errors.
func failures() map[string]Scenario {
	busy := fails(http.StatusTooManyRequests, "rate_limit_error", "Rate limited")
	busy[0].Failure.Header = http.Header{"Retry-After": {"1"}}
	passing := Scenario{{
		Blocks:  []Block{say("Recovered after retries.")},
		Usage:   Usage{Input: 12, Output: 20},
		Failure: &Failure{Status: 529, Type: "overloaded_error", Message: "Overloaded", Times: 1},
	}}
	return map[string]Scenario{
		"err500":   fails(http.StatusInternalServerError, "api_error", "Internal server error"),
		"err400":   fails(http.StatusBadRequest, "invalid_request_error", "bad request here"),
		"err401":   fails(http.StatusUnauthorized, "authentication_error", "invalid x-api-key"),
		"err529":   fails(529, "overloaded_error", "Overloaded"),
		"err429":   busy,
		"errretry": passing,
		"midtoolerr": {
			{Blocks: []Block{
				say("First a tool."),
				call("Bash", map[string]any{"command": "echo hi", "description": "Greet"}),
			}, Usage: Usage{Input: 10, Output: 50, CacheRead: 1500, Write5m: 100}},
			fails(http.StatusInternalServerError, "api_error", "Internal server error")[0],
		},
		"midstream": {{
			Blocks: []Block{say("partial text before the stream breaks")}, BreakOff: true,
			Usage: Usage{Input: 10, Output: 50},
		}},
	}
}

// subagents nest agents, in the foreground and in the background. The prompt
// given to a subagent names the scenario the subagent plays.
func subagents(dir string) map[string]Scenario {
	first := Usage{Input: 10, Output: 100, CacheRead: 1500, Write5m: 100}
	last := Usage{Input: 8, Output: 22, CacheRead: 1600, Write5m: 300}
	agent := func(task, prompt string, background bool) Block {
		return call("Agent", map[string]any{
			"description": task, "prompt": prompt,
			"subagent_type": "general-purpose", "run_in_background": background,
		})
	}
	bash := func(command string) Block {
		return call("Bash", map[string]any{"command": command, "description": "Count"})
	}
	inner := Usage{Input: 9, Output: 60, CacheRead: 700, Write5m: 80}
	report := Usage{Input: 5, Output: 12, CacheRead: 780, Write5m: 90}
	return map[string]Scenario{
		"subagent": {
			{Blocks: []Block{say("Delegating to a subagent."), agent("Count widgets", "SCENARIO:sub-count Count the widgets in main.go and report.", false)}, Usage: first},
			{Blocks: []Block{say("The subagent counted 2 widgets.")}, Usage: last},
		},
		"twosubs": {
			{Blocks: []Block{say("Two in parallel."), agent("Count A", "SCENARIO:sub-count part A", false), agent("Count B", "SCENARIO:sub-fail part B", false)}, Usage: first},
			{Blocks: []Block{say("Both subagents reported.")}, Usage: last},
		},
		"nested": {
			{Blocks: []Block{agent("Outer", "SCENARIO:sub-nest outer", false)}, Usage: first},
			{Blocks: []Block{say("Outer reported.")}, Usage: last},
		},
		"slowsub": {
			{Blocks: []Block{agent("Sleepy", "SCENARIO:slowtool in a subagent", false)}, Usage: first},
			{Blocks: []Block{say("Subagent done.")}, Usage: last},
		},
		"bgagent": {
			{Blocks: []Block{say("Launching in background."), agent("Slow count", "SCENARIO:sub-gated count when told", true)}, Usage: first},
			{Blocks: []Block{say("Started; I will report when it finishes.")}, Usage: last},
		},
		"bgmid": { // the report lands while the turn still runs
			{Blocks: []Block{agent("Quick count", "SCENARIO:sub-count quick", true)}, Usage: first},
			{Blocks: []Block{bash("i=0; while [ $i -lt 20 ]; do sleep 0.1; i=$((i+1)); done")}, Usage: first},
			{Blocks: []Block{say("Both are done.")}, Usage: last},
		},
		"workflow": {
			{Blocks: []Block{call("Workflow", map[string]any{"script": workflow})}, Usage: first},
			{Blocks: []Block{say("Workflow started.")}, Usage: last},
		},
		"sub-count": {
			{Blocks: []Block{say("Reading."), call("Read", map[string]any{"file_path": filepath.Join(dir, "main.go")}), bash("echo 2")}, Usage: inner},
			{Blocks: []Block{say("There are 2 widgets.")}, Usage: report},
		},
		"sub-gated": {
			{Blocks: []Block{bash(gate)}, Usage: inner},
			{Blocks: []Block{say("Slow count: 2 widgets.")}, Usage: report},
		},
		"sub-fail": {
			{Blocks: []Block{bash("exit 3")}, Usage: inner},
			{Blocks: []Block{say("The command failed with 3.")}, Usage: report},
		},
		"sub-nest": {
			{Blocks: []Block{agent("Inner", "SCENARIO:sub-count inner", false)}, Usage: inner},
			{Blocks: []Block{say("Inner says 2.")}, Usage: report},
		},
	}
}

// gate is a command that runs until a file named go is there.
const gate = "touch running; while kill -0 $PPID && [ ! -e go ]; do sleep 0.1; done"

// workflow is a program of the agent's own kind, with two stages.
const workflow = `export const meta = { name: 'count-twice', description: 'Counts widgets', phases: [{ title: 'Count' }] }
phase('Count')
const first = await agent('SCENARIO:sub-count stage one', { label: 'one' })
const second = await agent('SCENARIO:sub-gated stage two', { label: 'two' })
return { first, second }`
