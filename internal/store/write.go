package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/tracesmith/tracesmith/runtypes"
)

// write is one write of a run, in wire form.
type write struct {
	verb runtypes.Verb
	wire runtypes.Wire
}

// Export stores ops, all of them or none: with an error all are still to be stored.
// An op that has no wire form is handed to OnDrop once the others are stored, so that
// it counts once however often they are tried.
func (s *Store) Export(ctx context.Context, ops []runtypes.Op) (rest []runtypes.Op, err error) {
	writes := make([]write, 0, len(ops))
	var lost []func()
	for _, op := range ops {
		w, err := runtypes.Encode(op)
		if err != nil {
			lost = append(lost, func() { s.cfg.OnDrop([]runtypes.Op{op}, err) })
			continue
		}
		writes = append(writes, write{op.Verb, w})
	}
	if err := s.apply(ctx, writes); err != nil {
		return ops, err
	}
	for _, tell := range lost {
		tell()
	}
	return nil, nil
}

// Apply stores posts, then patches, all of them or none. What the store already
// has is left as it is.
func (s *Store) Apply(ctx context.Context, posts, patches []runtypes.Wire) error {
	writes := make([]write, 0, len(posts)+len(patches))
	for _, w := range posts {
		writes = append(writes, write{runtypes.Post, w})
	}
	for _, w := range patches {
		writes = append(writes, write{runtypes.Patch, w})
	}
	return s.apply(ctx, writes)
}

// Fresh returns the writes that the store has not had yet.
func (s *Store) Fresh(ctx context.Context, posts, patches []runtypes.Wire) (newPosts, newPatches []runtypes.Wire, err error) {
	for _, w := range posts {
		posted, _, err := s.state(ctx, w.ID)
		if err != nil {
			return nil, nil, err
		}
		if !posted {
			newPosts = append(newPosts, w)
		}
	}
	for _, w := range patches {
		_, patched, err := s.state(ctx, w.ID)
		if err != nil {
			return nil, nil, err
		}
		if !patched {
			newPatches = append(newPatches, w)
		}
	}
	return newPosts, newPatches, nil
}

func (s *Store) state(ctx context.Context, id string) (posted, patched bool, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT posted, patched FROM runs WHERE id = ?", id).Scan(&posted, &patched)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, false, fmt.Errorf("store: look up run: %w", named(err))
	}
	return posted, patched, nil
}

func (s *Store) apply(ctx context.Context, writes []write) error {
	if len(writes) == 0 {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		f := newFold(ctx, tx)
		now := s.cfg.Now().UnixMicro()
		for _, w := range writes {
			if err := f.put(w, now); err != nil {
				return fmt.Errorf("run %s: %w", w.wire.ID, err)
			}
		}
		return f.finish()
	})
	if err == nil {
		err = s.prune(ctx)
	}
	if err != nil {
		return fmt.Errorf("store: apply %d writes: %w", len(writes), err)
	}
	return nil
}
