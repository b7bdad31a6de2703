// Package sdktest drives the official SDKs through integrations/anthropic and
// integrations/openai. It is a module of its own, so that nobody who uses those
// packages has the SDKs in their module graph.
package sdktest
