// Package claudecode traces Claude Code: its hooks say when something happens,
// its transcript says what.
//
// The transcript is the source of content wherever there is one. Hooks carry
// references, times and ids, and the end of a turn; content only where no
// transcript exists (the first prompt, --no-session-persistence).
//
// The facts this package rests on were recorded with Claude Code 2.1.332:
//
//   - one transcript line per content block, the message's whole usage repeated
//     on each; tool results may stand between the lines of one message;
//   - the transcript is append-only and lags behind Stop by up to 0.2 s;
//   - no event tells of an interrupt: a marker line does, or a dead process;
//   - a Stop hook may block, and the turn goes on;
//   - a forked session starts with copied lines whose session and prompt ids are
//     rewritten.
package claudecode
