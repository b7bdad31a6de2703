// Package replay feeds a recorded session through the same Peek, Project, journal
// line and Reducer that a live one takes, and returns the runs as they would stand
// on the wire after redaction. It reads the recording and nothing else of the
// machine, and sends nothing.
//
// A recording is a folder: hooks.jsonl, one event a line ({"at", "event", "stdin",
// "lines": {path: lines on disk when the hook ran}}), home/, which stands for
// /home/dev, and, for agents that call a program with an argument, notify.jsonl
// ({"at", "argv"}). Of an agent with a shim it is events.jsonl, one line of the shim's a
// line, with "t" in milliseconds and, where several processes sent some, their "pid"
// and that of the process that started each, "ppid".
package replay
