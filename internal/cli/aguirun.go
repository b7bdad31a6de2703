package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/gitinfo"
	"github.com/tracesmith/tracesmith/integrations"
	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
	"github.com/tracesmith/tracesmith/integrations/goagent"
	"github.com/tracesmith/tracesmith/internal/redact"
	"github.com/tracesmith/tracesmith/internal/regular"
	"github.com/tracesmith/tracesmith/runtypes"
)

// maxRequest bounds the file of --request, in bytes.
const maxRequest = 64 << 20

// aguiRunFlags say what runs are made of a stream.
type aguiRunFlags struct {
	dryRun  bool
	request string
	unit    string
	who     aguiWho
}

// aguiWho says who the agent is. A stream never does.
type aguiWho struct {
	integration, runtime, name, dir string
	force, state, answers           bool
}

func (f *aguiRunFlags) define(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the runs as JSON lines, and send nothing")
	cmd.Flags().StringVar(&f.request, "request", "", "file with the RunAgentInput that the client posted")
	cmd.Flags().StringVar(&f.unit, "timestamps", "ms", "unit of the events' timestamps: s, ms or us")
	f.who.define(cmd)
}

func (f *aguiWho) define(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.integration, "integration", agui.Integration, "ls_integration of the runs")
	cmd.Flags().StringVar(&f.runtime, "runtime", "", "the agent's name (default: AG-UI and the protocol's version)")
	cmd.Flags().StringVar(&f.name, "name", "", "name of the root runs (default: AG-UI run)")
	cmd.Flags().StringVar(&f.dir, "dir", "", "the folder that the agent works in, for the repository (default: not known)")
	cmd.Flags().BoolVar(&f.force, "force", false, "record runs that say they trace themselves, too")
	cmd.Flags().BoolVar(&f.state, "state", false, "keep the agent's final state")
	cmd.Flags().BoolVar(&f.answers, "answers", false, "keep the answers that resume an interrupted run")
}

// options are the flags as a reducer takes them.
func (f *aguiWho) options(ctx context.Context) agui.RunOptions {
	var who runtypes.Identity
	if f.dir != "" {
		who = gitinfo.DetectIdentity(ctx, f.dir)
	}
	who.Integration, who.Runtime = f.integration, f.runtime
	return agui.RunOptions{Identity: who, Name: f.name, Force: f.force, State: f.state, Answers: f.answers}
}

// units are those of --timestamps.
var units = map[string]time.Duration{"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond}

func (f *aguiRunFlags) options(ctx context.Context) (agui.RunOptions, error) {
	opts := f.who.options(ctx)
	var known bool
	if opts.Unit, known = units[f.unit]; !known {
		return opts, usagef("ag-ui: unknown unit %q of timestamps (known: s, ms, us)", f.unit)
	}
	if f.request == "" {
		return opts, nil
	}
	file, err := regular.Open(f.request)
	if err != nil {
		return opts, fmt.Errorf("ag-ui: request: %w", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxRequest))
	if err != nil {
		return opts, fmt.Errorf("ag-ui: request: %w", err)
	}
	if opts.Request = agui.DecodeInput(raw); opts.Request == nil {
		return opts, fmt.Errorf("ag-ui: request: %s is no RunAgentInput with a threadId and a runId", f.request)
	}
	return opts, nil
}

// aguiRuns delivers the runs of a stream, or prints them.
func (a *app) aguiRuns(ctx context.Context, in io.Reader, how agui.Options, flags aguiFlags) error {
	opts, err := flags.run.options(ctx)
	if err != nil {
		return err
	}
	var out aguiSink = &printedRuns{a: a}
	if !flags.run.dryRun {
		if out, err = a.aguiTracer(ctx, flags.run.who); err != nil {
			return err
		}
	}
	settings, err := a.settings(flags.run.who.integration, flags.run.who.dir)
	if err != nil {
		return err
	}
	opts.Settled, opts.Inputs = !out.Live(), integrations.Inputs(settings.Inputs)
	reducer := agui.NewReducer(out.Sink(), opts)
	events, err := a.follow(ctx, in, how, reducer)
	err = errors.Join(err, out.Close(context.WithoutCancel(ctx)))
	if err == nil && events == 0 {
		return errors.New("ag-ui: no AG-UI event in the input (say the format with --format)")
	}
	a.tellCounts(reducer.Counts(), problemCodes(reducer.Problems()))
	if err != nil {
		return fmt.Errorf("ag-ui: %w", err)
	}
	if flags.strict {
		return refusal(reducer.Problems())
	}
	return nil
}

// aguiSink is where the runs of a stream go.
type aguiSink interface {
	Sink() runtypes.Sink
	Live() bool
	Close(context.Context) error
}

// aguiTracer opens what is configured.
func (a *app) aguiTracer(ctx context.Context, who aguiWho) (*goagent.Tracer, error) {
	tracer, err := goagent.Open(ctx, goagent.Config{
		Integration: who.integration, Runtime: who.runtime, Dir: who.dir, Env: a.env,
	})
	if err != nil {
		return nil, err
	}
	if tracer.Sink() == nil {
		return nil, errors.Join(
			errors.New("ag-ui: no destination: set LANGSMITH_API_KEY, or store = true in the settings, and see that tracing is on"),
			tracer.Close(ctx))
	}
	return tracer, nil
}

// follow gives a stream to a reducer, until it ends or somebody interrupts.
func (a *app) follow(ctx context.Context, in io.Reader, how agui.Options, reducer *agui.Reducer) (events int, err error) {
	type read struct {
		frame agui.Frame
		err   error
	}
	frames := make(chan read)
	go func() { // standard input does not end because somebody interrupts
		decoder := agui.NewDecoder(in, how)
		for {
			frame, err := decoder.Next()
			select {
			case frames <- read{frame, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	arrived := a.arrival(in)
	for {
		select {
		case <-ctx.Done():
			reducer.Close(agui.Stopped, arrived())
			return events, nil
		case next := <-frames:
			if next.err != nil {
				reducer.Close(agui.EndOfStream, arrived())
				if errors.Is(next.err, io.EOF) {
					return events, nil
				}
				return events, fmt.Errorf("read: %w", next.err)
			}
			if next.frame.Event != nil {
				events++
			}
			reducer.Add(next.frame, arrived())
		}
	}
}

// arrival says when events arrive: now, or for a file when it was written, so that
// reading it again gives the same runs.
func (a *app) arrival(in io.Reader) func() time.Time {
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return info.ModTime
		}
	}
	return a.now
}

// tellCounts says in one line what there was.
func (a *app) tellCounts(c agui.Counts, problems map[string]int) {
	line := fmt.Sprintf("%s, %s, %s, %s", counted(c.Runs, "run"), counted(c.LLM, "model call"), counted(c.Tools, "tool call"), counted(c.Subagents, "subagent"))
	if c.Skipped > 0 {
		line += fmt.Sprintf("; %s by the agent itself (--force records them too)", counted(c.Skipped, "run")+" traced")
	}
	if c.Refused > 0 {
		line += fmt.Sprintf("; %s not taken", counted(c.Refused, "write"))
	}
	if len(problems) > 0 {
		var list []string
		for _, code := range slices.Sorted(maps.Keys(problems)) {
			list = append(list, fmt.Sprintf("%s %d", code, problems[code]))
		}
		line += "; warnings: " + strings.Join(list, ", ")
	}
	fmt.Fprintln(a.stderr, line)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func problemCodes(problems []agui.Problem) map[string]int {
	codes := map[string]int{}
	for _, p := range problems {
		codes[p.Code]++
	}
	return codes
}

// printedRuns prints runs as they would stand on the wire, when all are known.
type printedRuns struct {
	a    *app
	runs runtypes.Recorder
}

func (p *printedRuns) Sink() runtypes.Sink { return &p.runs }
func (p *printedRuns) Live() bool          { return true }

func (p *printedRuns) Close(context.Context) error {
	runs, err := p.runs.Runs()
	if err != nil {
		return err
	}
	wires := make([]runtypes.Wire, 0, len(runs))
	for i := range runs {
		if err := redact.Run(&runs[i]); err != nil {
			return fmt.Errorf("redact: %w", err)
		}
		wire, err := runtypes.Encode(runtypes.Op{Verb: runtypes.Post, Run: &runs[i]})
		if err != nil {
			return err
		}
		wires = append(wires, wire)
	}
	return printRuns(p.a.stdout, wires)
}

// replayAGUI prints the runs of a recorded stream: the first of events.jsonl, events.sse
// and events.bin that DIR has.
func (a *app) replayAGUI(ctx context.Context, dir string) error {
	for _, name := range []string{"events.jsonl", "events.sse", "events.bin"} {
		f, err := regular.Open(dir + string(os.PathSeparator) + name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		defer f.Close()
		out := &printedRuns{a: a}
		if _, err := a.follow(ctx, f, agui.Options{}, agui.NewReducer(out.Sink(), agui.RunOptions{})); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		return out.Close(ctx)
	}
	return fmt.Errorf("replay: %s holds no events.jsonl, events.sse or events.bin", dir)
}
