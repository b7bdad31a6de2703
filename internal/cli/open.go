package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/delivery"
	"github.com/tracesmith/tracesmith/internal/langsmith"
	"github.com/tracesmith/tracesmith/internal/store"
)

// openTime bounds the question where a trace's page is.
const openTime = 15 * time.Second

// openCommand shows a turn in LangSmith.
func openCommand(a *app) *cobra.Command {
	var thread string
	var justPrint bool
	cmd := &cobra.Command{
		Use:   "open [TRACE]",
		Short: "Open a turn's page in LangSmith: the last one, or that of an id",
		Long: `Print the address of a turn's page in LangSmith, and open it in the browser when this
is a terminal. It is the last turn, or within an agent that says so the last one of the
session at hand, or that of TRACE, a trace's id or the beginning of one.`,
		Args: argCount(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && thread != "" {
				return usagef("open: give a TRACE or --session, not both")
			}
			if thread == "" {
				thread = a.env("CLAUDE_CODE_SESSION_ID") // of the agent that runs this command
			}
			page, err := a.page(cmd.Context(), args, thread)
			if err != nil {
				return oneLine(err)
			}
			fmt.Fprintln(a.stdout, page)
			if _, terminal := widthOf(a.stdout); terminal && !justPrint {
				return browse(cmd.Context(), page)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&thread, "session", "", "the last turn of this session")
	cmd.Flags().BoolVar(&justPrint, "print", false, "open no browser")
	return cmd
}

// page finds the address of a turn's page.
func (a *app) page(ctx context.Context, args []string, thread string) (string, error) {
	dir, err := a.getwd()
	if err != nil {
		return "", fmt.Errorf("open: %w", err)
	}
	trace, agent, err := a.findTurn(ctx, args, thread)
	if err != nil {
		return "", err
	}
	settings, err := a.settings(agent, dir)
	if err != nil {
		return "", err
	}
	places := delivery.Places(settings, a.env)
	if len(places) == 0 {
		return "", errors.New("open: turns are not sent to LangSmith: there is no key (see them with: tracesmith show)")
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	place := places[0]
	if place.Err != nil {
		return "", place.Err
	}
	road, err := place.Send.Reach()
	if err != nil {
		return "", fmt.Errorf("open: %w", err)
	}
	client := &langsmith.Client{Endpoint: place.Endpoint, APIKey: place.Send.APIKey, WorkspaceID: place.WorkspaceID, Token: place.Send.Token, HTTP: road}
	run, err := client.Run(ctx, trace)
	var refused *langsmith.StatusError
	switch {
	case errors.As(err, &refused) && refused.Status == http.StatusNotFound:
		return "", fmt.Errorf("open: LangSmith does not have trace %s (yet): see tracesmith status", trace)
	case errors.As(err, &refused):
		return "", fmt.Errorf("open: LangSmith answers with status %d: see tracesmith doctor", refused.Status)
	case err != nil:
		return "", fmt.Errorf("open: %w: see tracesmith doctor", err)
	}
	page := run.Page(place.Endpoint)
	if page == "" {
		return "", fmt.Errorf("open: LangSmith does not say where trace %s is", trace)
	}
	return page, nil
}

// findTurn finds a turn in the local store. Without one an id that is given whole is
// taken at its word.
func (a *app) findTurn(ctx context.Context, args []string, thread string) (trace, agent string, err error) {
	state, err := a.openState()
	if err != nil {
		return "", "", err
	}
	runs, err := a.openStore(ctx, state)
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, runs.Close()) }()
	if len(args) == 1 {
		found, err := runs.Trace(ctx, args[0])
		if err == nil && len(found) > 0 {
			agent, _ := found[0].Metadata()["ls_integration"].(string)
			return found[0].TraceID, agent, nil
		}
		const whole = 36
		if errors.Is(err, store.ErrNotFound) && len(args[0]) == whole {
			return args[0], "", nil
		}
		return "", "", fmt.Errorf("open: %w", err)
	}
	turns, err := runs.Turns(ctx, store.Filter{Thread: thread, Limit: 1})
	if err != nil {
		return "", "", err
	}
	if len(turns) == 0 {
		return "", "", fmt.Errorf("open: %w", nothingStored(store.Filter{Thread: thread}))
	}
	return turns[0].TraceID, turns[0].Integration, nil
}

// browse opens an address in the user's browser.
func browse(ctx context.Context, address string) error {
	argv := map[string][]string{
		"darwin":  {"open", address},
		"windows": {"rundll32", "url.dll,FileProtocolHandler", address},
	}[runtime.GOOS]
	if argv == nil {
		argv = []string{"xdg-open", address}
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return nil // the address was printed
	}
	return exec.CommandContext(ctx, argv[0], argv[1:]...).Run()
}
