// Package browser drives the local page in a real browser, headless Chromium, and
// looks at what a person would see. It is a module of its own, so that nobody who uses
// Tracesmith has a browser's protocol in their module graph.
//
// make e2e runs it; without a Chromium it is skipped, loudly.
//
//	TRACESMITH_BROWSER  the browser to use (default: chromium or a Chrome in PATH)
//
// Screenshots of every view, wide and narrow, light and dark, are left in
// e2e/logs/browser.
package browser
