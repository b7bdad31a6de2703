#!/bin/sh
# Runs tracesmith wherever it is. Where it is not, or damaged, the hook does nothing
# and exits with 0: tracing never stands in an agent's way.
for program in "$TRACESMITH_BIN" tracesmith "$HOME/.local/bin/tracesmith" "$HOME/go/bin/tracesmith"; do
	if [ -n "$program" ] && command -v "$program" >/dev/null 2>&1; then
		"$program" "$@"
		exit 0
	fi
done
exit 0
