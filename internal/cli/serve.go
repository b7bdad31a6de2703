package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/internal/web"
)

// closeWithin bounds the wait for requests under way when serve ends.
const closeWithin = 5 * time.Second

// serveCommand runs the protocol server on the local store.
func serveCommand(a *app) *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Take runs over LangSmith's protocol on loopback, keep and show them",
		Long: `Serve LangSmith's run ingestion protocol on loopback until interrupted. What any
LangSmith client sends there is checked as LangSmith checks it and kept in the
local store, where show finds it. The same port has the page of view, for whoever has
the address that is printed. Nothing leaves this machine.`,
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serve(cmd.Context(), listen)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:1984", "loopback address to listen on; port 0 is any free one")
	return cmd
}

// serve runs until ctx is done.
func (a *app) serve(ctx context.Context, listen string) error {
	state, err := a.openState()
	if err != nil {
		return err
	}
	runs, err := a.openStore(ctx, state)
	if err != nil {
		return err
	}
	pageConfig, err := a.pageConfig(state, runs)
	if err != nil {
		return oneLine(errors.Join(err, runs.Close()))
	}
	page := web.New(pageConfig)
	server, err := ingest.Start(ingest.Config{Sink: runs, Page: page}, listen)
	if err != nil {
		return oneLine(errors.Join(err, runs.Close()))
	}
	fmt.Fprintf(a.stdout, "Serving on %s (set LANGSMITH_ENDPOINT to it; Ctrl-C ends)\n", server.URL())
	fmt.Fprintf(a.stdout, "The page is %s\n", page.Entry(server.URL()))
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
