package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/delivery"
	"github.com/tracesmith/tracesmith/internal/drain/spawn"
	"github.com/tracesmith/tracesmith/internal/journal"
	"github.com/tracesmith/tracesmith/internal/loopback"
	"github.com/tracesmith/tracesmith/internal/relay"
	"github.com/tracesmith/tracesmith/runtypes"
)

// hookIdle is how long a relay that a hook started stays without anything to do: the
// agent's next session starts it again.
const hookIdle = 30 * time.Minute

// rulesTime is how long a folder's settings are remembered.
const rulesTime = 10 * time.Second

// relayFlags are the flags of relay.
type relayFlags struct {
	listen, upstream string
	idle             time.Duration
	byHook           bool
}

// relayCommand stands between Deep Agents Code and LangSmith.
func relayCommand(a *app) *cobra.Command {
	var flags relayFlags
	cmd := &cobra.Command{
		Use:   "relay",
		Short: "Stand between Deep Agents Code and LangSmith, on loopback",
		Long: `Serve LangSmith's protocol on loopback until interrupted. Runs of Deep Agents Code are
kept on disk, made whole, redacted and delivered as what hooks record. Everything else
goes on to LangSmith as it comes, with the client's own key.

tracesmith install deepagents-code --relay sets it up.`,
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.idle < 0 {
				return usagef("relay: --idle is a duration such as 30m, or 0 for never")
			}
			return oneLine(a.relay(cmd.Context(), flags))
		},
	}
	cmd.Flags().StringVar(&flags.listen, "listen", relay.DefaultListen, "loopback address to listen on; port 0 is any free one")
	cmd.Flags().StringVar(&flags.upstream, "upstream", "", "LangSmith's address for what is sent on (default: the endpoint of the settings)")
	cmd.Flags().DurationVar(&flags.idle, "idle", 0, "end after so long without a request; 0: never")
	cmd.Flags().BoolVar(&flags.byHook, "by-hook", false, "end when install no longer leaves it to hooks to start the relay")
	_ = cmd.Flags().MarkHidden("by-hook") // hooks start it so
	return cmd
}

// relay runs until ctx is done, or it has been idle for long enough.
func (a *app) relay(ctx context.Context, flags relayFlags) (err error) {
	own := *a
	own.env = withoutRelay(a.env, flags.listen)
	settings, err := own.settings(relay.Integration, "")
	if err != nil {
		return err
	}
	if !settings.Enabled {
		return errors.New("relay: tracing is switched off (see: tracesmith config explain)")
	}
	state, err := own.openState()
	if err != nil {
		return err
	}
	log, file, err := state.Log()
	if err != nil {
		return err
	}
	defer file.Close()
	background := drainFlags{linger: true}
	destinations, end, err := own.destinations(ctx, state, settings, background, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	cfg := own.relayConfig(ctx, settings, flags, log)
	cfg.Drain = own.drainConfig(state, settings, destinations, background, log)
	shape := cfg.Drain.Shape
	cfg.Drain.Shape = func(run *runtypes.Run) {
		if settings.Project != "" { // it counts more than what the client was told
			run.Project = ""
		}
		shape(run)
	}
	if err := own.forwarding(&cfg, settings); err != nil {
		return err
	}
	if flags.byHook {
		cfg.Stay = func() bool { return relay.HookStartAddress(state.Dir()) != "" }
	}
	r, err := relay.Start(cfg)
	if errors.Is(err, relay.ErrRunning) && flags.byHook {
		return nil // another hook was faster
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "Relaying on %s (Ctrl-C ends)\n", r.URL())
	failure := r.Wait(ctx)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin/2)
	defer cancel()
	return errors.Join(failure, r.Close(closing))
}

func (a *app) relayConfig(ctx context.Context, settings config.Config, flags relayFlags, log *slog.Logger) relay.Config {
	upstream := flags.upstream
	if upstream == "" || settings.Locked("endpoint") {
		upstream = settings.Endpoint
	}
	return relay.Config{
		Rules: a.rules(ctx), Listen: flags.listen, Upstream: upstream,
		Idle: flags.idle, Log: log, Now: a.now,
	}
}

// forwarding is how requests go on to LangSmith: Tracesmith's own key, for clients that
// have the relay's token, and the road that runs take, too.
func (a *app) forwarding(cfg *relay.Config, settings config.Config) error {
	to := settings.Offline()
	to.APIKey, to.KeyCommand, to.KeyKeyring, to.Login = settings.APIKey, settings.KeyCommand, settings.KeyKeyring, settings.Login
	send := exporter.Config{AllowHTTP: settings.AllowHTTP}
	if places := delivery.Places(to, a.env); len(places) > 0 {
		if places[0].Err != nil {
			return places[0].Err
		}
		send = places[0].Send
	}
	cfg.Key, cfg.Who = send.APIKey, relay.Credentials{APIKey: send.APIKey, WorkspaceID: settings.WorkspaceID}
	if send.Token != nil {
		cfg.Who.Token = func(ctx context.Context) (string, error) { return send.Token(ctx, "") }
	}
	send.Endpoint = cfg.Upstream
	road, err := send.Reach()
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	cfg.Road = road.Transport
	return nil
}

// rules returns what reads the settings that hold for the turns of a folder, as a hook
// does for each event, and where the folder's repository comes from. It is safe for
// concurrent use.
func (a *app) rules(ctx context.Context) func(dir string) relay.Rules {
	type known struct {
		rules relay.Rules
		at    time.Time
	}
	var mu sync.Mutex
	folders := map[string]known{}
	return func(dir string) relay.Rules {
		mu.Lock()
		defer mu.Unlock()
		now := a.now()
		if k, ok := folders[dir]; ok && now.Sub(k.at).Abs() < rulesTime {
			return k.rules
		}
		if len(folders) >= maxFolders {
			clear(folders)
		}
		settings, err := a.settings(relay.Integration, cmp.Or(dir, config.Unknown))
		rules := relay.Rules{Off: !settings.Enabled, Policy: journal.Policy{Content: string(config.Metadata)}}
		if err == nil {
			rules.Policy = journal.Policy{
				To: settings.Destination(), Key: settings.KeyHash(), Plain: !settings.Redact, Restraint: settings.Restraint(),
			}
			if settings.Content != config.Full {
				rules.Policy.Content = string(settings.Content)
			}
		}
		if dir != "" && !rules.Off {
			rules.Origin = remote(ctx, dir)
		}
		folders[dir] = known{rules, now}
		return rules
	}
}

// withoutRelay is an environment without what sends traces to the relay. A hook that
// starts it has the agent's: with that it would send to itself.
func withoutRelay(env func(string) string, listen string) func(string) string {
	for _, name := range []string{"LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"} {
		to, err := url.Parse(strings.TrimSpace(env(name)))
		if err != nil || to.Host != listen || !loopback.Is(to.Host) {
			continue
		}
		return func(name string) string {
			if strings.HasPrefix(name, "LANGSMITH_") || strings.HasPrefix(name, "LANGCHAIN_") {
				return ""
			}
			return env(name)
		}
	}
	return env
}

// startRelay starts the relay where install has left that to the hooks of Deep Agents
// Code. It looks at one file, and nothing that goes wrong is the hook's business.
func startRelay(args []string, env func(string) string) {
	if len(args) == 0 || args[0] != relay.Integration || config.Disabled(env) {
		return
	}
	dir, err := journal.DefaultDir(env)
	if err != nil {
		return
	}
	listen := relay.HookStartAddress(dir)
	if listen == "" {
		return
	}
	lock := flock.New(relay.LockPath(dir))
	free, err := lock.TryRLock()
	if err != nil || !free {
		return // it runs
	}
	if lock.Close() != nil {
		return
	}
	program, err := os.Executable()
	if err != nil {
		return
	}
	_ = spawn.Start(spawn.Command{ // the next event tries again
		Program: program, Dir: dir, Environ: os.Environ(), Args: []string{"relay", "--by-hook", "--idle", hookIdle.String(), "--listen", listen},
	})
}
