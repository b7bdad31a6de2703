// Package regular opens files that somebody named: regular ones only, and without
// ever waiting. To open a named pipe waits for whoever writes to it, and a device has
// no end.
package regular
