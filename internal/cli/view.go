package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/internal/store"
	"github.com/tracesmith/tracesmith/internal/web"
)

// lately is how long a place that turns went to is told of, if the settings do not name it.
const lately = 7 * 24 * time.Hour

// viewCommand shows the local store in a browser.
func viewCommand(a *app) *cobra.Command {
	var listen string
	var hosts []string
	var noOpen bool
	cmd := &cobra.Command{
		Use:   "view",
		Short: "Show turns in the browser, live, from the local store",
		Long: `Serve a page on loopback that shows the turns of the local store, live while agents
work, until interrupted. It is for whoever has the address that is printed, which opens
in the browser when this is a terminal. The page sends nothing anywhere, and says where
your settings send turns.

Where the page reaches your browser by another name, such as that of a forwarded port
(Codespaces, a tunnel, WSL), say the name with --host.`,
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.view(cmd.Context(), listen, hosts, noOpen)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "loopback address to listen on; port 0 is any free one")
	cmd.Flags().StringArrayVar(&hosts, "host", nil, "a further name that browsers may call the page by (repeatable)")
	cmd.Flags().BoolVar(&noOpen, "no-open", false, "open no browser")
	return cmd
}

// view runs until ctx is done.
func (a *app) view(ctx context.Context, listen string, hosts []string, noOpen bool) error {
	for _, host := range hosts {
		if host == "" || strings.ContainsAny(host, ":/ ") {
			return usagef("view: --host is a name without scheme and port, such as my-box.example.com")
		}
	}
	state, err := a.openState()
	if err != nil {
		return err
	}
	runs, err := a.openStoreAs(ctx, store.Config{Path: storePath(state), Now: a.now, Late: true})
	if err != nil {
		return err
	}
	cfg, err := a.pageConfig(state, runs)
	if err != nil {
		return oneLine(errors.Join(err, runs.Close()))
	}
	cfg.Hosts = hosts
	server, err := web.Start(cfg, listen)
	if err != nil {
		return oneLine(errors.Join(err, runs.Close()))
	}
	fmt.Fprintf(a.stdout, "%s\n(Ctrl-C ends; the page sends nothing anywhere)\n", server.URL())
	browsed := make(chan struct{})
	go func() {
		defer close(browsed)
		if _, terminal := widthOf(a.stdout); terminal && !noOpen && browse(ctx, server.URL()) != nil && ctx.Err() == nil {
			fmt.Fprintln(a.stderr, "tracesmith: no browser opened: open the address yourself")
		}
	}()
	a.refresh(ctx, runs)
	<-ctx.Done()
	<-browsed
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	return oneLine(errors.Join(server.Close(closing), runs.Close()))
}

// refresh does what may take seconds in an old store while the page is up already: it
// removes what is too much, and sums what an earlier version stored.
func (a *app) refresh(ctx context.Context, runs *store.Store) {
	if _, err := runs.Refresh(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintf(a.stderr, "tracesmith: older turns are missing in lists: %v\n", oneLine(err))
	}
}

// pageConfig is what the page shows: the store, and where its turns went besides. The
// page may be up for days, so the settings are read when they are asked for.
func (a *app) pageConfig(state *journal.State, runs *store.Store) (web.Config, error) {
	dir, err := a.getwd()
	if err != nil {
		return web.Config{}, err
	}
	if _, err := a.settings("", dir); err != nil {
		return web.Config{}, err
	}
	return web.Config{
		Store: runs,
		Redaction: func() (redact.Rules, redact.Pass, error) {
			settings, err := a.settings("", dir)
			return settings.Rules, redact.Pass{Allow: settings.Allow}, err
		},
		Elsewhere:    func(trace string) bool { return a.delivered(state, dir, trace) },
		Destinations: func() []web.Destination { return a.leaves(state, dir) },
		Open: func(ctx context.Context, trace string) (string, error) {
			return a.page(ctx, []string{trace}, "")
		},
	}, nil
}

// delivered reports whether the place where open looks, by the settings as they are now,
// has a trace.
func (a *app) delivered(state *journal.State, dir, trace string) bool {
	id, err := uuid.Parse(trace)
	if err != nil {
		return false
	}
	settings, err := a.settings("", dir)
	places := settings.Places()
	if err != nil || len(places) == 0 {
		return false
	}
	traces, err := state.Ledger(places[0].ID)
	return err == nil && traces.Has(id)
}

// leaves lists where turns go by the settings as they are now, and where they went
// lately by others, such as those of another shell.
func (a *app) leaves(state *journal.State, dir string) []web.Destination {
	records, _ := state.Destinations() // what cannot be read tells of nothing
	delete(records, "store")           // it is on this machine
	var list []web.Destination         // nil: not known, where the settings cannot be read
	if settings, err := a.settings("", dir); err == nil {
		list = []web.Destination{}
		if !settings.Enabled {
			settings = settings.Offline()
		}
		add := func(id, address, project string) {
			list = append(list, web.Destination{
				Address: address, Project: project, Content: string(settings.Content), Bare: !settings.Redact, Last: records[id].Delivered,
			})
			delete(records, id)
		}
		for _, place := range settings.Places() {
			add(place.ID, place.Endpoint, place.Project)
		}
		if id := settings.OTLP.ID(); id != "" {
			add(id, settings.OTLP.Endpoint, "")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(records)) {
		if last := records[id].Delivered; a.now().Sub(last) < lately {
			list = append(list, web.Destination{Address: records[id].Name, Last: last})
		}
	}
	return list
}
