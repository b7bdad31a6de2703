package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/store"
)

// openState opens the directory that hooks and drainers share.
func (a *app) openState() (*journal.State, error) {
	dir, err := journal.DefaultDir(a.env)
	if err != nil {
		return nil, err
	}
	return journal.Open(dir)
}

// openStore opens the local store of runs, which lives beside the journals.
func (a *app) openStore(ctx context.Context, state *journal.State) (*store.Store, error) {
	return a.openStoreAs(ctx, store.Config{Path: storePath(state), Now: a.now})
}

func (a *app) openStoreAs(ctx context.Context, cfg store.Config) (*store.Store, error) {
	runs, err := store.Open(ctx, cfg)
	return runs, mendStore(err)
}

// mendStore adds to what is wrong with the store what to do about it.
func mendStore(err error) error {
	switch {
	case errors.Is(err, store.ErrForeign), errors.Is(err, store.ErrCorrupt):
		err = fmt.Errorf("%w: move it away, and a new one is made", err)
	case errors.Is(err, store.ErrNewer):
		err = fmt.Errorf("%w: use that one", err)
	case errors.Is(err, store.ErrReadOnly), errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("%w: make it writable, or set TRACESMITH_STATE to another folder", err)
	}
	return err
}

// storePath is the store's file: in a directory of its own.
func storePath(state *journal.State) string {
	return filepath.Join(state.Dir(), "store", "runs.db")
}

// settings reads the configuration as it stands for an agent in a directory.
func (a *app) settings(agent, dir string) (config.Config, error) {
	return config.Load(config.Options{Env: a.env, Dir: dir, Agent: agent})
}

// oneLine makes one line of an error that joins several.
func oneLine(err error) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); strings.Contains(text, "\n") {
		return errors.New(strings.ReplaceAll(text, "\n", "; "))
	}
	return err
}
