package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/loopback"
	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/internal/web"
)

// closeWithin bounds the wait for requests under way when serve ends.
const closeWithin = 5 * time.Second

// serveCommand runs the protocol server on the local store.
func serveCommand(a *app) *cobra.Command {
	var listen string
	var anyKey bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Take runs over LangSmith's protocol on loopback, keep and show them",
		Long: `Serve LangSmith's run ingestion protocol on loopback until interrupted. What a
LangSmith client sends there is checked as LangSmith checks it and kept in the
local store, where show finds it. The same port has the page of view, for whoever has
the address that is printed. Nothing leaves this machine.

Clients show a key, since everybody on this machine can reach the port: the one that is
printed with the endpoint, which stays the same, or the LangSmith key of your settings,
unless a command or the keyring has it. With --any-key they need none.`,
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serve(cmd.Context(), listen, anyKey)
		},
	}
	cmd.Flags().BoolVar(&anyKey, "any-key", false, "take runs with any key, or none, from everybody on this machine")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:1984", "loopback address to listen on; port 0 is any free one")
	return cmd
}

// serve runs until ctx is done.
func (a *app) serve(ctx context.Context, listen string, anyKey bool) error {
	state, err := a.openState()
	if err != nil {
		return err
	}
	runs, err := a.openStoreAs(ctx, store.Config{Path: storePath(state), Now: a.now, Late: true})
	if err != nil {
		return err
	}
	pageConfig, err := a.pageConfig(state, runs)
	if err != nil {
		return oneLine(errors.Join(err, runs.Close()))
	}
	page := web.New(pageConfig)
	cfg := ingest.Config{Sink: runs, Page: page}
	if !anyKey {
		if cfg.Keys, err = a.serveKeys(state); err != nil {
			return oneLine(errors.Join(err, runs.Close()))
		}
		cfg.Refusal = "Invalid token: set LANGSMITH_API_KEY to the key that tracesmith serve printed"
	}
	server, err := ingest.Start(cfg, listen)
	if err != nil {
		return oneLine(errors.Join(err, runs.Close()))
	}
	a.tellServe(server.URL(), page.Entry(server.URL()), cfg.Keys)
	a.refresh(ctx, runs)
	<-ctx.Done()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	err = server.Close(closing)
	stats := server.Stats()
	fmt.Fprintf(a.stdout, "%d posts and %d patches in %d requests, %d already known\n",
		stats.Posts, stats.Patches, stats.Requests, stats.Known)
	return oneLine(errors.Join(err, runs.Close()))
}

// tellServe prints what makes a shell's clients send here, and where the page is.
func (a *app) tellServe(endpoint, page string, keys []string) {
	form := "  export %s=%s\n"
	if runtime.GOOS == "windows" {
		form = "  $env:%s = \"%s\"\n" // PowerShell
	}
	fmt.Fprintf(a.stdout, "Serving on %s (Ctrl-C ends). Clients send here with\n", endpoint)
	fmt.Fprintf(a.stdout, form, "LANGSMITH_ENDPOINT", endpoint)
	if len(keys) > 0 {
		fmt.Fprintf(a.stdout, form, "LANGSMITH_API_KEY", keys[0])
	}
	fmt.Fprintf(a.stdout, "The page is %s\n", page)
}

// serveKeys are those that clients may show: that of this state, and the user's own, which
// whoever changes nothing but the endpoint has.
func (a *app) serveKeys(state *journal.State) ([]string, error) {
	own, err := loopback.Token(filepath.Join(state.Dir(), "serve", "key"), "tracesmith-serve-")
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	settings, err := a.settings("", "")
	if err != nil {
		return nil, err
	}
	return []string{own, settings.APIKey}, nil
}
