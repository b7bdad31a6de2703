package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// Exit codes. There is no 2: agents that call hooks read it as "block".
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 64
)

// endWithin is how long a command may take to end after it was interrupted.
const endWithin = 2 * time.Second

// Main runs the command that args name and returns its exit code.
func Main(args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "hook" && !asksForHelp(args[1:]) {
		return runHook(args[1:], env, stdin, stdout)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A reader that leaves early, such as head, is an error of the write.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a := &app{
		stdin: stdin, stdout: &output{to: stdout}, stderr: stderr,
		env: env, now: time.Now, getwd: os.Getwd, executable: os.Executable,
	}
	return a.obey(ctx, stop, func() int { return a.execute(ctx, a.root(), args) })
}

// asksForHelp reports whether somebody wants to know what hook is: no agent has such a
// name.
func asksForHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h")
}

// obey runs a command to its end, or until some time after the context's: one that
// waits for its input does not see that. restore gives signals back to the system,
// so that a second one ends the process at once.
func (a *app) obey(ctx context.Context, restore func(), command func() int) int {
	done := make(chan int, 1)
	go func() { done <- command() }()
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
	}
	restore()
	select {
	case code := <-done:
		return code
	case <-time.After(endWithin):
		fmt.Fprintln(a.stderr, "tracesmith: interrupted")
		return exitError
	}
}

// execute runs the command that args name and maps the outcome to an exit code.
func (a *app) execute(ctx context.Context, root *cobra.Command, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			// What panicked may hold content: its type says enough for a report.
			fmt.Fprintf(a.stderr, "tracesmith: internal error (%T): please report it with the command you ran\n", r)
			code = exitError
		}
	}()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if out, ok := a.stdout.(*output); ok && (err == nil || errors.Is(err, errReported)) {
		if unwritten := out.failure(); unwritten != nil {
			err = unwritten
		}
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errReported), cutOff(err):
		return exitError
	}
	fmt.Fprintf(a.stderr, "tracesmith: %v\n", err)
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitError
}

// root is the command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "tracesmith",
		Short: "Trace coding agents to LangSmith",
		Long: "Tracesmith records what a coding agent did in a turn (prompt, model calls, tools,\n" +
			"subagents) and delivers it to LangSmith as a run tree.",
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args:              knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ask, err := cmd.Flags().GetBool("version"); err == nil && ask {
				return a.printVersion()
			}
			return cmd.Help()
		},
		SuggestionsMinimumDistance: 2,
	}
	// Not cobra's own flag: a text of ours for that is a template, and with templates
	// in the program the linker has to keep every method that any of them might name.
	root.Flags().BoolP("version", "v", false, "version for tracesmith")
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%v (see: %s --help)", err, cmd.CommandPath())
	})
	root.SetHelpCommand(helpCommand())
	for _, command := range commands() {
		root.AddCommand(command(a))
	}
	return root
}

// knownCommand is reached with arguments only if no command has that name.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("unknown command %q: did you mean %q?", args[0], near[0])
	}
	return usagef("unknown command %q (see: tracesmith --help)", args[0])
}
