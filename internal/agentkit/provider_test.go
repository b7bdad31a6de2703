package agentkit

import "testing"

func TestProvidersAreThoseThatAreKnown(t *testing.T) {
	f := func(configured, model, provider, id string) {
		t.Helper()
		if p, i := Provider(configured, model); p != provider || i != id {
			t.Errorf("%s %s: %s %s, want %s %s", configured, model, p, i, provider, id)
		}
	}
	f("openai", "gpt-5.5", "openai", "")
	f("corp-proxy", "gpt-6.2-sol", "openai", "corp-proxy")
	f("oss", "qwen3", "ollama", "oss")
	f("mine", "qwen3", "mine", "")
}
