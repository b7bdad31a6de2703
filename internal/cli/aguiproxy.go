package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/integrations"
	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
	"github.com/tracesmith/tracesmith/integrations/ag-ui/aguitrace"
	"github.com/tracesmith/tracesmith/integrations/goagent"
	"github.com/tracesmith/tracesmith/internal/loopback"
)

// How long the parts of a proxy's end may take. Together they fit into endWithin.
const (
	proxyFinishes = 300 * time.Millisecond // streams under way
	proxyFolds    = 300 * time.Millisecond
	proxyDelivers = 1200 * time.Millisecond
)

// readHeaders bounds how long a client may take to say what it wants.
const readHeaders = 30 * time.Second

// aguiProxyFlags are the arguments of ag-ui proxy.
type aguiProxyFlags struct {
	listen, target string
	hosts          []string // by which clients may call the proxy
	who            aguiWho
}

// aguiProxyCommand puts itself between a client and an agent.
func aguiProxyCommand(a *app) *cobra.Command {
	var flags aguiProxyFlags
	cmd := &cobra.Command{
		Use:   "proxy --target URL [--listen ADDRESS]",
		Short: "Pass requests to an AG-UI agent and trace its answers",
		Long: `Listen for the requests of an AG-UI client, pass them to the agent at URL, and its
answers back as they come, byte for byte, until interrupted. The runs that pass are
delivered. Tracing never slows or breaks a stream: what it cannot keep up with is not
recorded, and its run says so. Headers are not recorded.

Requests must name this machine as localhost or by an address: a web page could have a
name of its own lead here. --allow-host names others, such as a container's. Whatever
else the agent asks of its clients, such as a key or an origin, it asks through the proxy.`,
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return oneLine(a.aguiProxy(cmd.Context(), flags))
		},
	}
	cmd.Flags().StringVar(&flags.target, "target", "", "the agent's URL")
	cmd.Flags().StringVar(&flags.listen, "listen", "127.0.0.1:8123", "address to listen on; port 0 is any free one")
	cmd.Flags().StringSliceVar(&flags.hosts, "allow-host", nil, "a host name, without port, that requests may name besides")
	flags.who.define(cmd)
	return cmd
}

// aguiProxy serves until ctx is done.
func (a *app) aguiProxy(ctx context.Context, flags aguiProxyFlags) error {
	target, err := url.Parse(flags.target)
	switch {
	case flags.target == "":
		return usagef("proxy: --target is missing: the agent's URL, such as http://127.0.0.1:8000/agent")
	case err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https":
		return usagef("proxy: --target is no http or https URL")
	}
	settings, err := a.settings(flags.who.integration, flags.who.dir)
	if err != nil {
		return err
	}
	state, err := a.openState()
	if err != nil {
		return err
	}
	log, file, err := state.Log()
	if err != nil {
		return err
	}
	defer file.Close()
	runs := flags.who.options(ctx)
	runs.Inputs = integrations.Inputs(settings.Inputs)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", flags.listen)
	if err != nil {
		return fmt.Errorf("proxy: %w (choose another with --listen)", err)
	}
	to, err := goagent.Open(ctx, goagent.Config{
		Integration: flags.who.integration, Runtime: flags.who.runtime, Dir: flags.who.dir, Env: a.env, Logger: log,
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	runs.Settled = !to.Live()
	tracer := aguitrace.New(to.Sink(), aguitrace.Options{Runs: runs, Logger: log, Now: a.now})
	a.tellProxy(listener.Addr(), target, to)
	err = servePassing(ctx, listener, tracer.Proxy(target), flags.hosts)
	return errors.Join(err, a.endProxy(ctx, tracer, to, log))
}

// tellProxy says where the proxy is and what it does.
func (a *app) tellProxy(at net.Addr, target *url.URL, to *goagent.Tracer) {
	fmt.Fprintf(a.stdout, "Listening on http://%s for %s (Ctrl-C ends)\n", at, target.Redacted())
	if tcp, ok := at.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		fmt.Fprintln(a.stderr, "tracesmith: other machines can reach the agent through this address")
	}
	if to.Sink() == nil {
		fmt.Fprintln(a.stderr, "tracesmith: nothing is recorded: tracing is off, or there is no destination (see: tracesmith doctor)")
	}
}

// servePassing serves a proxy until ctx is done.
func servePassing(ctx context.Context, listener net.Listener, proxy *aguitrace.Proxy, hosts []string) error {
	// The agent is told its own name in Host, and cannot see what a page was told.
	guarded := loopback.Hosts(proxy, !loopback.Is(listener.Addr().String()), hosts...)
	server := &http.Server{Handler: guarded, ReadHeaderTimeout: readHeaders, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	loopback.CutSilent(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("proxy: %w", err)
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), proxyFinishes)
	defer cancel()
	if server.Shutdown(closing) != nil {
		_ = server.Close() // streams that go on are cut, and their clients told
	}
	<-ended
	proxy.CloseIdleConnections()
	return nil
}

// endProxy waits for what has passed to be folded and delivered, and says what it was.
func (a *app) endProxy(ctx context.Context, tracer *aguitrace.Tracer, to *goagent.Tracer, log *slog.Logger) error {
	ctx = context.WithoutCancel(ctx)
	folding, cancel := context.WithTimeout(ctx, proxyFolds)
	defer cancel()
	if err := tracer.Wait(folding); err != nil {
		log.Warn("proxy ends", "error", err.Error())
	}
	delivering, stop := context.WithTimeout(ctx, proxyDelivers)
	defer stop()
	err := to.Close(delivering)
	total := tracer.Totals()
	if total.Lost > 0 {
		fmt.Fprintf(a.stderr, "%s not recorded to the end\n", counted(total.Lost, "stream"))
	}
	a.tellCounts(total.Counts, total.Problems)
	return err
}

var _ aguiSink = (*goagent.Tracer)(nil)

// isAGUI reports whether replay is asked for a stream rather than a hooked agent.
func isAGUI(name string) bool { return name == agui.Integration }
