// Package hookstable edits the table of hooks in an agent's settings, of the shape
// that several agents share:
//
//	{"hooks": {EVENT: [{"matcher": ..., "hooks": [{"type": "command", "command": ..., "timeout": ...}]}]}}
//
// Everything else in the settings stays as it is, byte for byte.
package hookstable
