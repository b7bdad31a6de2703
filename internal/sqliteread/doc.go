// Package sqliteread reads the SQLite files of other programs and leaves them as they
// are: nothing is written to the database or its journals, and no lock of its owner's
// is waited for longer than a moment.
package sqliteread
