package claudecode

import "testing"

func TestLangSmithsPluginIsSeenAndSwitchedOff(t *testing.T) {
	for _, c := range []struct {
		in        string
		on, known bool
		off       string
	}{
		{"", false, false, "{\n  \"enabledPlugins\": {\n    \"langsmith-tracing@langsmith-claude-code-plugins\": false\n  }\n}\n"},
		{`{"a":1}`, false, false, `{"a":1,"enabledPlugins":{"langsmith-tracing@langsmith-claude-code-plugins":false}}`},
		{`{"enabledPlugins":{"x@y":true}}`, false, false, `{"enabledPlugins":{"x@y":true,"langsmith-tracing@langsmith-claude-code-plugins":false}}`},
		{`{"enabledPlugins": {"langsmith-tracing@mine": true, "x@y": true}}`, true, true, `{"enabledPlugins": {"langsmith-tracing@mine": false, "x@y": true}}`},
		{`{"enabledPlugins": {"langsmith-tracing@a": false, "langsmith-tracing@b": ["1.0"]}}`, true, true, `{"enabledPlugins": {"langsmith-tracing@a": false, "langsmith-tracing@b": false}}`},
		{`{"enabledPlugins": {"langsmith-tracing@a": false}}`, false, true, `{"enabledPlugins": {"langsmith-tracing@a": false}}`},
		{`{"enabledPlugins": {"langsmith-gateway@a": true}}`, false, false, `{"enabledPlugins": {"langsmith-gateway@a": true,"langsmith-tracing@langsmith-claude-code-plugins":false}}`},
	} {
		on, known := pluginOn([]byte(c.in))
		if on != c.on || known != c.known {
			t.Errorf("%s: on %v, known %v", c.in, on, known)
		}
		off, err := pluginOff([]byte(c.in))
		if err != nil || string(off) != c.off {
			t.Errorf("%s:\n got %s\nwant %s (%v)", c.in, off, c.off, err)
		}
		if on, known := pluginOn(off); on || !known {
			t.Errorf("%s: still on: %s", c.in, off)
		}
	}
	if on, known := pluginOn([]byte("{ // comment\n}")); on || known {
		t.Error("settings that are no JSON name a plugin")
	}
}
