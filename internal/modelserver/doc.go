// Package modelserver plays a model: a scripted Anthropic Messages API on
// loopback, so that a real coding agent can be driven through a known turn
// without an account and without the network.
//
// The prompt names what happens next: SCENARIO:parallel makes the model ask for
// several tools at once, SCENARIO:err500 makes every attempt fail. The server
// keeps no conversation. Like the real API it is told the whole of it with each
// request, and answers by how many replies the conversation already holds since
// the scenario was named.
//
// Codex speaks OpenAI's Responses API instead, of which the same server plays what
// Codex uses; [CodexScript] has scenarios with its tools.
//
// The server gives the shapes, events and errors of the real API and refuses
// what that refuses at the door. It has no opinion on anything else.
package modelserver
