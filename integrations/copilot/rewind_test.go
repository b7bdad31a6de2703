package copilot

import (
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/integrations"
)

// back takes the conversation back to where the log had a length, as the user does with
// /undo or /rewind.
func (x *teller) back(length int) {
	x.src.files[logPath()] = x.src.files[logPath()][:length]
	x.at = x.at.Add(1e9)
	x.log(`session.info {"infoType":"rewind","message":"Rewound the conversation."}`)
}

func (x *teller) turn(interaction, call, answer string) {
	x.t.Helper()
	x.prompted(interaction, "ask for "+answer)
	x.log(answerLines(call, answer)...)
	x.log(stopHook(), stopEnd())
}

func TestAPromptAfterARewindIsATurn(t *testing.T) {
	for name, words := range map[string]string{"shorter": "x", "as long": "the second answer", "longer": "an answer that is longer than what was there before the conversation was taken back"} {
		for _, looks := range []bool{false, true} { // the drainer comes by between the two
			x := tell(t)
			x.log(startLine())
			x.hook(sessionStart, data{Source: "new"})
			x.turn("i1", "c1", "the first answer")
			first := len(x.src.files[logPath()])
			x.turn("i2", "c2", "the second answer")
			x.own(integrations.Grew)
			x.back(first)
			if looks {
				x.own(integrations.Grew)
			}
			x.turn("i3", "c3", words)
			x.own(integrations.Grew)
			if s := x.status(); s.Open != 0 || s.Waiting {
				t.Errorf("%s: status %+v", name, s)
			}
			x.wants(
				"root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2",
				"root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2",
				"root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
			if last := x.runs[x.list[len(x.list)-1]]; last.Identity.TurnNumber != 3 {
				t.Errorf("%s: the last turn has the number %d", name, last.Identity.TurnNumber)
			}
		}
	}
}

func TestWhatARewindCutsOffIsEnded(t *testing.T) {
	x := begun(t)
	x.log(roundLine(), usageLine("c1"), askLine("c1", "task", "t1"), toolLine("task", "t1"))
	x.log(`a1/subagent.started {"toolCallId":"t1","agentName":"explore"}`, "a1/"+roundLine())
	x.own(integrations.Grew)
	x.back(strings.Index(x.src.files[logPath()], "\n") + 1)
	x.turn("i2", "c2", "done")
	x.own(integrations.Grew)
	if s := x.status(); s.Open != 0 || s.Waiting {
		t.Errorf("status %+v", s)
	}
	x.wants(
		"interrupted GitHub Copilot CLI Turn: Interrupted", "  llm GitHub Copilot CLI 10/2", "  subagent explore Subagent: Interrupted",
		"root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
}

// A reader that is shown less than before has not seen a rewind.
func TestALogThatIsShorterForAWhileIsReadOn(t *testing.T) {
	x := begun(t)
	x.log(answerLines("c1", "done")...)
	x.own(integrations.Grew)
	whole := x.src.files[logPath()]
	x.src.files[logPath()] = whole[:strings.Index(whole, "\n")+1]
	x.own(integrations.Grew)
	x.src.files[logPath()] = whole
	x.log(stopHook(), stopEnd())
	x.own(integrations.Grew)
	x.wants("root GitHub Copilot CLI Turn", "  llm GitHub Copilot CLI 10/2")
}
