package modelserver

import "net/http"

// CodexScript returns the scenarios for Codex, which calls other tools than Claude
// Code does. Failures and answers without tools are the built-in ones.
func CodexScript() map[string]Scenario {
	first := Usage{Input: 976, CacheRead: 1024, Output: 120}
	next := Usage{Input: 200, CacheRead: 2000, Output: 30}
	last := Usage{Input: 352, CacheRead: 2048, Output: 40}
	run := func(command string) Block { return call("exec_command", map[string]any{"cmd": command}) }
	return map[string]Scenario{
		"codex-tools": {
			{Blocks: []Block{think("**Looking around**"), say("I will look."), run("ls"), run("cat README.md")}, Usage: first},
			{Blocks: []Block{say("There is a README about widgets.")}, Usage: last},
		},
		"codex-fail": {
			{Blocks: []Block{run("echo oops >&2; exit 3")}, Usage: first},
			{Blocks: []Block{call("no_such_tool", map[string]any{"x": 1})}, Usage: next},
			{Blocks: []Block{say("Both failed.")}, Usage: last},
		},
		"codex-patch": {
			{Blocks: []Block{free("apply_patch", "*** Begin Patch\n*** Add File: widget.py\n+print(42)\n*** End Patch\n")}, Usage: first},
			{Blocks: []Block{free("apply_patch", "*** Begin Patch\n*** Update File: nosuch.py\n@@\n-old\n+new\n*** End Patch\n")}, Usage: next},
			{Blocks: []Block{say("One patch went in.")}, Usage: last},
		},
		"codex-code": {
			{Blocks: []Block{free("exec", "const r = await tools.exec_command({cmd: \"ls; exit 7\"});\ntext(JSON.stringify(r));\n")}, Usage: first},
			{Blocks: []Block{say("The script ran.")}, Usage: last},
		},
		"codex-subagent": {
			{Blocks: []Block{call("multi_agent_v1/spawn_agent", map[string]any{"message": "SCENARIO:codex-child count the files"})}, Usage: first},
			{Blocks: []Block{run("i=0; while [ ! -e counted ] && [ $i -lt 200 ]; do sleep 0.1; i=$((i+1)); done; sleep 1")}, Usage: next},
			{Blocks: []Block{say("The helper counted.")}, Usage: last},
		},
		"codex-child": {
			{Blocks: []Block{run("ls | wc -l; touch counted")}, Usage: next},
			{Blocks: []Block{say("Two files.")}, Usage: last},
		},
		"codex-slowtool": {
			{Blocks: []Block{say("Starting."), call("exec_command", map[string]any{
				"cmd": "touch running; i=0; while [ $i -lt 600 ]; do sleep 0.1; i=$((i+1)); done", "yield_time_ms": 30000,
			})}, Usage: first},
			{Blocks: []Block{say("Done.")}, Usage: last},
		},
		"codex-err400": fails(http.StatusBadRequest, "invalid_request_error", "Invalid value: 'foo'"),
	}
}

// free calls for a tool that takes text.
func free(tool, text string) Block {
	b := call(tool, nil)
	b.Input = quoted(text)
	return b
}
