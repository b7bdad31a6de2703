// Package profile takes settings from where "langsmith login" stores them:
// ~/.langsmith/config.json, or the file that LANGSMITH_CONFIG_FILE names.
//
// The environment comes first, for the endpoint, for what authenticates, and for
// the workspace, each by itself; an API key in the environment switches the
// profile's authentication off as a whole. In a profile OAuth comes before a key.
// A token that is about to expire, or was refused, is refreshed, by one process at
// a time, and written back for the others. Whatever goes wrong with that, the old
// token is kept and the server has the last word. A missing or broken file is no
// error.
package profile
