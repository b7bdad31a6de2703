package cli

import (
	"os"
	"strings"
	"testing"
)

func TestEveryCommandOfTheFleetGuideIsRunByItsScript(t *testing.T) {
	guide, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/fleet_guide.txtar")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	shell := false
	for line := range strings.Lines(string(guide)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			shell = line == "```sh"
		case shell && line != "":
			command, _, _ := strings.Cut(line, "  #")
			commands++
			if !strings.Contains(string(script), strings.TrimSpace(command)) {
				t.Errorf("the script does not run %q", command)
			}
		}
	}
	if commands < 10 {
		t.Errorf("%d commands found in the guide", commands)
	}
}
