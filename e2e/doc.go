// Package e2e drives real coding agents through whole sessions and looks at what
// arrived. An agent comes from npm or PyPI at a pinned version, the model is scripted
// (internal/modelserver), LangSmith is internal/ingest, and the tracesmith binary
// is registered by its own install command in a home folder made for the
// occasion. After the installation nothing but loopback is used.
//
// The tests are behind the build tag e2e; make e2e runs them, and with -short a
// smoke of them. The interactive program is driven through tmux.
//
//	TRACESMITH_E2E_CACHE  where agents are installed (default: the user's cache folder)
//	TRACESMITH_E2E_SKIP   1: pass, loudly, where a registry cannot be reached
//	TRACESMITH_E2E_PYTHON the Python to use (default: the newest one that is found)
//
// A failed test leaves its home folder, the runs that arrived and the model's
// requests in e2e/logs.
package e2e
