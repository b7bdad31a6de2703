// Turnloop-streaming is an agent that prints the model's words as they come. Its
// model calls are traced by hand, time to first token and tokens included; see
// turnloop for calls that trace themselves. Ctrl-C interrupts the turn.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/tracesmith/tracesmith/examples/internal/toy"
	"github.com/tracesmith/tracesmith/integrations/goagent"
	"github.com/tracesmith/tracesmith/runtypes"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "turnloop-streaming:", err)
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
	tracer, err := goagent.Open(ctx, goagent.Config{Integration: "turnloop-streaming", Runtime: "Turnloop Streaming"})
	if err != nil {
		fmt.Fprintln(os.Stderr, "not traced:", err)
	}
	defer tracer.Close(context.WithoutCancel(ctx))

	a := &agent{model: model, repository: repository, out: out, prompt: toy.Prompt("What does this program print?", "explain")}
	_, err = runtypes.RunTurn(ctx, tracer.Sink(), tracer.Identity(ctx, repository.Dir, "thread-1"), a.prompt, a.turn,
		runtypes.WithTags("streaming"))
	return errors.Join(err, toy.Show(ctx, out, tracer))
}

// agent is a model with tools and a task.
type agent struct {
	model      *toy.Model
	repository *toy.Workspace
	out        io.Writer
	prompt     string
}

// maxSteps bounds the model calls of a turn.
const maxSteps = 50

// turn asks the model and runs the tools it calls until it calls none.
func (a *agent) turn(ctx context.Context, turn *runtypes.Turn) (string, error) {
	conversation := []toy.Message{toy.User(a.prompt)}
	for range maxSteps {
		reply, err := a.ask(ctx, turn, conversation)
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

// ask prints the model's next message as it comes, and traces the call.
func (a *agent) ask(ctx context.Context, turn *runtypes.Turn, conversation []toy.Message) (toy.Message, error) {
	call := turn.LLM(a.model.Name, conversation)
	call.Model(runtypes.Model{Provider: "anthropic", InvocationParams: map[string]any{"stream": true}})
	reply, used, err := a.model.Stream(ctx, conversation, func(piece string) {
		call.Token()
		fmt.Fprint(a.out, piece)
	})
	fmt.Fprintln(a.out)
	call.Usage(runtypes.Usage{
		Input:  used.Input + used.CacheRead + used.CacheCreation, // Anthropic counts them apart
		Output: used.Output, CacheRead: used.CacheRead, CacheCreation: used.CacheCreation,
	})
	call.Done([]toy.Message{reply}, err)
	return reply, err
}
