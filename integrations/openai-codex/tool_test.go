package openaicodex

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// oneTurn tells a session of one turn, which is over.
func oneTurn(t *testing.T, lines ...string) *teller {
	t.Helper()
	lines = append(append([]string{metaLine(rootID, "")}, opening(turnID)...), lines...)
	x := tell(t, map[string]string{rolloutOf(rootID): write(lines...)})
	x.event("SessionStart", start("startup"))
	x.event("UserPromptSubmit", names(turnID))
	x.event("Stop", names(turnID))
	x.own(integrations.Grew)
	return x
}

// run is the one run of a name.
func (x *teller) run(name string) *runtypes.Run {
	x.t.Helper()
	var found *runtypes.Run
	for _, id := range x.list {
		if run := x.runs[id]; run.Name == name && found == nil {
			found = run
		} else if run.Name == name {
			x.t.Fatalf("more than one %s", name)
		}
	}
	if found == nil {
		x.t.Fatalf("no %s: %q", name, x.told())
	}
	return found
}

func TestASearchForToolsIsATool(t *testing.T) {
	x := oneTurn(t,
		fmt.Sprintf(`response_item {"type":"tool_search_call","call_id":"c1","execution":"client","arguments":{"query":"issues"},"internal_chat_message_metadata_passthrough":{"turn_id":%q}}`, turnID),
		usageLine(turnID, "r1", 10, 2),
		fmt.Sprintf(`response_item {"type":"tool_search_output","call_id":"c1","tools":[{"name":"list_issues"}],"internal_chat_message_metadata_passthrough":{"turn_id":%q}}`, turnID),
		sayLine(turnID, "ok"), usageLine(turnID, "r2", 20, 2), doneLine(turnID, "ok"))
	check(t, x, "root Codex Turn", "  llm Codex 10/2", "  llm Codex 20/2", "  tool tool_search")
	search := x.run("tool_search")
	if in, out := string(search.Inputs), string(search.Outputs); in != `{"query":"issues"}` || out != `{"tools":[{"name":"list_issues"}]}` {
		t.Errorf("inputs %s, outputs %s", in, out)
	}
}

func TestAnImageThatTheProviderDrewIsAToolThatSucceeded(t *testing.T) {
	x := oneTurn(t,
		fmt.Sprintf(`response_item {"type":"image_generation_call","id":"ig1","status":"completed","revised_prompt":"a cat","result":"AAAA","internal_chat_message_metadata_passthrough":{"turn_id":%q}}`, turnID),
		usageLine(turnID, "r1", 10, 2), fmt.Sprintf(`event_msg {"type":"task_complete","turn_id":%q,"last_agent_message":null,"started_at":1}`, turnID))
	check(t, x, "root Codex Turn", "  llm Codex 10/2", "  tool image_generation")
	if in := string(x.run("image_generation").Inputs); in != `{"prompt":"a cat"}` {
		t.Errorf("inputs %s", in)
	}
}

// Some providers number the calls of each reply from the start.
func TestCallsOfOneIDHaveTheirOwnResults(t *testing.T) {
	var lines []string
	for i, name := range []string{"first", "second", "third"} {
		lines = append(lines, callLine(turnID, "c1", name, `{}`), usageLine(turnID, "r"+name, 10, 2),
			commandLine(turnID, "c1", i), outputLine(turnID, "c1", name+" result"))
	}
	x := oneTurn(t, append(lines, doneLine(turnID, "ok"))...)
	for name, want := range map[string]string{"first": "", "second": "exit code 1", "third": "exit code 2"} {
		run := x.run(name)
		if out := string(run.Outputs); run.Error != want || out != `{"output":"`+name+` result"}` {
			t.Errorf("%s: error %q, outputs %s", name, run.Error, out)
		}
	}
}

// The rollout does not say which script ran a command; one that had not begun did not.
func TestACommandHangsUnderAScriptThatHadBegun(t *testing.T) {
	command := func(id string, ms int) string {
		return fmt.Sprintf(`event_msg {"type":"item_completed","turn_id":%q,"item":{"type":"CommandExecution","id":%q,"status":"completed","exit_code":0,"command":["bash","-lc",%q],"duration":{"secs":0,"nanos":%d}}}`,
			turnID, id, id, ms*1_000_000)
	}
	x := oneTurn(t,
		scriptLine(turnID, "c1", "one"), usageLine(turnID, "r1", 10, 2),
		outputLine(turnID, "c1", "Script running with cell ID 1\n"),
		scriptLine(turnID, "c2", "two"), usageLine(turnID, "r2", 20, 2),
		command("exec-1", 35), command("exec-2", 5), // each line is 10 ms after the one before
		outputLine(turnID, "c2", "Script completed\n"), doneLine(turnID, "ok"))
	parents := map[string]string{}
	for _, id := range x.list {
		if run := x.runs[id]; run.Name == "exec_command" {
			for _, up := range x.runs {
				if up.Name == "exec" && strings.HasPrefix(run.DottedOrder, up.DottedOrder+".") {
					parents[string(run.Inputs)] = string(up.Inputs)
				}
			}
		}
	}
	for command, want := range map[string]string{`{"command":"exec-1"}`: `{"input":"one"}`, `{"command":"exec-2"}`: `{"input":"two"}`} {
		if parents[command] != want {
			t.Errorf("%s hangs under %s, want %s", command, parents[command], want)
		}
	}
}

// Versions without items tell the model alone of a command that the user typed.
func TestACommandTypedInAnOlderVersionIsATool(t *testing.T) {
	typed := func(code int, output string) string {
		text := fmt.Sprintf("<user_shell_command>\n<command>\nmake\n</command>\n<result>\nExit code: %d\nDuration: 0.0400 seconds\nOutput:\n%s\n</result>\n</user_shell_command>", code, output)
		return fmt.Sprintf(`response_item {"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text)
	}
	f := func(line, want, output string) {
		t.Helper()
		text := write(metaLine(rootID, ""), started(turnID, ""), line, doneLine(turnID, ""))
		x := tell(t, map[string]string{rolloutOf(rootID): regexp.MustCompile(`"ordinal":\d+,`).ReplaceAllString(text, "")})
		x.event("SessionStart", start("startup"))
		x.own(integrations.Grew)
		check(t, x, "root Codex Turn", "  tool exec_command"+want)
		if in := string(x.run("Codex Turn").Inputs); !strings.Contains(in, `"!make"`) {
			t.Errorf("inputs %s", in)
		}
		if out := string(x.run("exec_command").Outputs); out != fmt.Sprintf(`{"output":%q}`, output) {
			t.Errorf("outputs %s", out)
		}
	}
	f(typed(0, "built"), "", "built")
	f(typed(2, "no rule"), ": exit code 2", "no rule")
	f(typed(-1, "command aborted by user"), ": Interrupted by user", "command aborted by user")
}

func TestACallThatCodexRefusedIsAnError(t *testing.T) {
	for answer, class := range map[string]string{
		"unsupported custom tool call: exec":                                                    "unknown_tool",
		"unable to locate image at `/home/dev/w/a.png`: No such file or directory (os error 2)": "failed",
	} {
		x := oneTurn(t, callLine(turnID, "c1", "look", "{}"), usageLine(turnID, "r1", 10, 2), outputLine(turnID, "c1", answer), doneLine(turnID, "ok"))
		if run := x.run("look"); run.Error != answer || run.Metadata[agentkit.MetaErrorClass] != class {
			t.Errorf("%q: error %q of class %v", answer, run.Error, run.Metadata[agentkit.MetaErrorClass])
		}
	}
}

// The tool runs to its end, and the reply is asked for again.
func TestAReplyThatBrokeOffBehindAToolCallWasCutOff(t *testing.T) {
	text := write(append(append([]string{metaLine(rootID, "")}, opening(turnID)...),
		callLine(turnID, "c1", "look", "{}"), outputLine(turnID, "c1", "seen"),
		sayLine(turnID, "ok"), usageLine(turnID, "r1", 10, 2), doneLine(turnID, "ok"))...)
	text = strings.ReplaceAll(text, `"type":"response_item",`, `"type":"response_item","metadata":{"sampled_through_sequence":3},`)
	x := tell(t, map[string]string{rolloutOf(rootID): text})
	x.event("SessionStart", start("startup"))
	x.event("Stop", names(turnID))
	x.own(integrations.Grew)
	check(t, x, "root Codex Turn", "  llm Codex: the reply was cut off", "  llm Codex 10/2", "  tool look")
}

func TestACommandTypedIntoATurnDidNotBeginIt(t *testing.T) {
	x := oneTurn(t, sayLine(turnID, "ok"), usageLine(turnID, "r1", 10, 2),
		fmt.Sprintf(`event_msg {"type":"item_completed","turn_id":%q,"item":{"type":"CommandExecution","id":"u1","source":"user_shell","command":["bash","-lc","ls"],"exit_code":0}}`, turnID),
		doneLine(turnID, "ok"))
	check(t, x, "root Codex Turn", "  llm Codex 10/2", "  tool exec_command")
	if origin := x.run("Codex Turn").Metadata[agentkit.MetaOrigin]; origin != nil {
		t.Errorf("origin %v", origin)
	}
}
