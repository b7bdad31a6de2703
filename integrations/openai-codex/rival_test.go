package openaicodex

import "testing"

func TestLangSmithsPluginIsARival(t *testing.T) {
	f := func(config string, on, known bool) {
		t.Helper()
		if gotOn, gotKnown := pluginOn([]byte(config)); gotOn != on || gotKnown != known {
			t.Errorf("%q: on %v, known %v", config, gotOn, gotKnown)
		}
	}
	f("", false, false)
	f("[plugins.\"tracing@langsmith-codex-plugins\"]\nenabled = true\n", true, true)
	f("[plugins.\"tracing@langsmith-codex-plugins\"]\nenabled = false\n", false, true)
	f("[plugins.\"other@market\"]\nenabled = true\n", false, false)
	paths := rivals()[0].Paths("/home/dev", false, func(string) string { return "" })
	if len(paths) != 1 || paths[0] != "/home/dev/.codex/config.toml" {
		t.Errorf("paths %v", paths)
	}
}

func TestLangSmithsPluginIsSwitchedOffAndNothingElseChanges(t *testing.T) {
	f := func(config, want string) {
		t.Helper()
		got, err := pluginOff([]byte(config))
		if err != nil || string(got) != want {
			t.Errorf("%q gives %q (%v), want %q", config, got, err, want)
		}
	}
	f("# mine\nmodel = \"x\"\n[plugins.\"tracing@langsmith-codex-plugins\"] # LangSmith\n  enabled = true # for now\n[plugins.\"other@m\"]\nenabled = true\n",
		"# mine\nmodel = \"x\"\n[plugins.\"tracing@langsmith-codex-plugins\"] # LangSmith\n  enabled = false # for now\n[plugins.\"other@m\"]\nenabled = true\n")
	f("[plugins.\"tracing@langsmith-codex-plugins\"]\r\nx = 1\r\n\r\n[a]\r\nenabled = true\r\n",
		"[plugins.\"tracing@langsmith-codex-plugins\"]\r\nenabled = false\r\nx = 1\r\n\r\n[a]\r\nenabled = true\r\n")
	f("[plugins.'tracing@langsmith-a']\nenabled = false\n[plugins.\"tracing@langsmith-b\"]",
		"[plugins.'tracing@langsmith-a']\nenabled = false\n[plugins.\"tracing@langsmith-b\"]\nenabled = false\n")
	f("[plugins.\"tracing@langsmith-codex-plugins\"]\nenabled = false\n", "[plugins.\"tracing@langsmith-codex-plugins\"]\nenabled = false\n")
	f("", "")
}

// Spellings that Codex does not write, and words of a text that look like a table.
func TestSettingsThatAreNotOursToEditAreLeftAlone(t *testing.T) {
	for _, config := range []string{
		"plugins = { \"tracing@langsmith-codex-plugins\" = { enabled = true } }\n",
		"plugins.\"tracing@langsmith-codex-plugins\".enabled = true\n",
		"x = '''\n[plugins.\"tracing@langsmith-codex-plugins\"]\nenabled = true\n'''\n[plugins.\"tracing@langsmith-codex-plugins\"]\nenabled = true\n",
	} {
		if got, err := pluginOff([]byte(config)); err == nil {
			t.Errorf("%q gives %q, want an error", config, got)
		}
	}
}
