package copilot

import (
	"strings"

	"github.com/tracesmith/tracesmith/internal/agentkit"
)

// providers are the names of model providers that Copilot writes, under those that
// LangSmith prices.
func providers() map[string]string {
	return map[string]string{
		"openai": "openai", "azure": "azure", "anthropic": "anthropic", "google": "google_genai", "gemini": "google_genai",
		"vertex": "google_vertexai", "xai": "xai", "bedrock": "amazon_bedrock", "mistral": "mistralai", "deepseek": "deepseek",
	}
}

// providerOf maps who served a call to a name that LangSmith knows: the provider that is
// named, else the model's family, else the protocol that was spoken. "other" is a
// provider of the user's own. id is what Copilot calls it, where that is another.
func providerOf(named, protocol, model string) (provider, id string) {
	own := named
	if own == "other" {
		own = ""
	}
	if known := providers()[strings.ToLower(own)]; known != "" {
		if known != own {
			id = own
		}
		return known, id
	}
	if protocol == "azure" {
		return "azure", own
	}
	if maker := agentkit.Maker(model); maker != "" {
		return maker, own
	}
	if known := providers()[strings.ToLower(protocol)]; known != "" {
		return known, own
	}
	return own, ""
}
