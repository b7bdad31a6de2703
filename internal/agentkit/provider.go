package agentkit

import "strings"

// providers are the ids of model providers that agents ship or that their manuals use,
// under the names LangSmith prices.
func providers() map[string]string {
	return map[string]string{
		"openai": "openai", "openai-chat-completions": "openai", "azure": "azure", "azure-openai": "azure",
		"oss": "ollama", "ollama": "ollama", "lmstudio": "lmstudio", "amazon-bedrock": "amazon_bedrock", "bedrock": "amazon_bedrock",
		"openrouter": "openrouter", "mistral": "mistralai", "groq": "groq", "deepseek": "deepseek", "xai": "xai",
		"gemini": "google_genai", "google": "google_genai", "anthropic": "anthropic", "together": "together", "fireworks": "fireworks",
	}
}

// Provider maps the id of a model provider, which is a name in the user's own
// configuration, to one that LangSmith knows. A proxy's name says nothing, and the
// model's family then has to. id is the user's name, if it is another.
func Provider(configured, model string) (provider, id string) {
	if known := providers()[strings.ToLower(configured)]; known != "" {
		if known == configured {
			return known, ""
		}
		return known, configured
	}
	if maker := Maker(model); maker != "" {
		return maker, configured
	}
	return configured, ""
}

// Maker is the provider whose models have names like this one; empty: not known.
func Maker(model string) string {
	name := strings.ToLower(model)
	for _, family := range [...]struct{ prefix, provider string }{
		{"gpt-", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"}, {"codex", "openai"},
		{"claude", "anthropic"}, {"gemini", "google_genai"}, {"mistral", "mistralai"}, {"deepseek", "deepseek"}, {"grok", "xai"},
	} {
		if strings.HasPrefix(name, family.prefix) {
			return family.provider
		}
	}
	return ""
}
