// Turnloop is a small but real coding agent: it reads and edits files and runs
// commands in a temporary repository until the model has nothing more to ask for.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"

	"github.com/tracesmith/tracesmith/examples/internal/toy"
	"github.com/tracesmith/tracesmith/integrations/anthropic"
	"github.com/tracesmith/tracesmith/integrations/goagent"
	"github.com/tracesmith/tracesmith/runtypes"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "turnloop:", err)
		os.Exit(1)
	}
}

// run has the agent do one turn.
func run(ctx context.Context, out io.Writer) error {
	repository, err := toy.NewWorkspace()
	if err != nil {
		return err
	}
	defer repository.Close()
	model, err := toy.NewModel(toy.Scripts(), toy.Tools())
	if err != nil {
		return err
	}
	defer model.Close()
	tracer, err := goagent.Open(ctx, goagent.Config{Integration: "turnloop", Runtime: "Turnloop"})
	if err != nil {
		fmt.Fprintln(os.Stderr, "not traced:", err)
	}
	defer tracer.Close(context.WithoutCancel(ctx))
	model.HTTP = &http.Client{Transport: &anthropic.Transport{}}

	a := &agent{model: model, repository: repository, prompt: toy.Prompt("Fix what go vet complains about.", "fix")}
	answer, err := runtypes.RunTurn(ctx, tracer.Sink(), tracer.Identity(ctx, repository.Dir, "thread-1"), a.prompt, a.turn)
	fmt.Fprintln(out, answer)
	return errors.Join(err, toy.Show(ctx, out, tracer))
}

// agent is a model with tools and a task.
type agent struct {
	model      *toy.Model
	repository *toy.Workspace
	prompt     string
}

// maxSteps bounds the model calls of a turn.
const maxSteps = 50

// turn asks the model and runs the tools it calls until it calls none.
func (a *agent) turn(ctx context.Context, turn *runtypes.Turn) (string, error) {
	conversation := []toy.Message{toy.User(a.prompt)}
	for range maxSteps {
		reply, err := a.model.Ask(ctx, conversation)
		if err != nil {
			return "", err
		}
		conversation = append(conversation, reply)
		calls := reply.Calls()
		if len(calls) == 0 {
			return reply.Text(), nil
		}
		results := toy.Message{Role: "user"}
		for _, call := range calls {
			tool := turn.Tool(call.Name, call.ID, call.Input)
			output, err := a.repository.Do(ctx, call.Name, call.Input)
			tool.Done(output, err)
			results.Content = append(results.Content, toy.Result(call.ID, output, err))
		}
		conversation = append(conversation, results)
	}
	return "", errors.New("too many steps")
}
