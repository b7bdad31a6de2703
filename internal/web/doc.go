// Package web serves the local page: threads, turns, their runs and totals, read from
// the local store and shown in a browser on this machine.
//
// A transcript is hostile input. What the page gets is JSON and one embedded set of
// files; a strict content security policy lets nothing else run, and a turn that is
// exported is text in a file without scripts.
//
// Only loopback is listened on. Whoever asks shows a random token, first in the
// address that is printed, then in a cookie; the Host and Origin of a request must be
// the page's own, so that another page in the same browser can neither read nor ask.
package web
