package doctor

import "testing"

func TestAVersionIsFoundInWhatAProgramSaysOfItself(t *testing.T) {
	for said, want := range map[string]string{
		"2.1.332 (Claude Code)":                              "2.1.332",
		"codex-cli 0.171.0":                                  "0.171.0",
		"GitHub Copilot CLI 1.0.102.\nRun 'copilot update'.": "1.0.102", // the end of a sentence
		"v1.6.0":                "1.6.0",
		"no version, and no 7.": "",
	} {
		if got := versionIn(said); got != want {
			t.Errorf("%q is version %q, want %q", said, got, want)
		}
	}
}
