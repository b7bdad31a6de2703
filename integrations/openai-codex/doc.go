// Package openaicodex traces OpenAI Codex: its hooks say when something happens,
// its rollout file says what.
//
// The facts this package rests on were recorded with Codex 0.128 to 0.171:
//
//   - a turn has an id, and most lines of a rollout bear it; from task_started to
//     task_complete or turn_aborted, whatever stands in between;
//   - while a Stop hook runs the rollout has everything of the turn but its end,
//     which is written when every Stop hook has ended; any of them may let the turn
//     go on;
//   - no hook tells of a turn that failed, of /compact or of `!command`, nor of a
//     process that was killed: the rollout, or the next hook of any kind, does;
//   - from 0.155 a token_usage_record follows each model call; before that only the
//     change of the thread's running total says what a call used;
//   - commands run by a script of code mode are no calls of the model: they appear
//     as completed items while the script's own call is open;
//   - a subagent, a review and a guardian have rollouts of their own, and a forked
//     one begins with a copy of its parent's history.
//
// Times, usage, results and exit codes are the rollout's. What is told is a function
// of the rollout alone; a hook adds where HEAD stood and what no rollout has.
package openaicodex
