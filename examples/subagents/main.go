// Subagents is an agent whose tool starts other agents: two side by side, one of
// which starts a third. Each hangs under the tool call that asked for it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"sync"

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
		fmt.Fprintln(os.Stderr, "subagents:", err)
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
	model, err := toy.NewModel(toy.Scripts(), append(toy.Tools(), toy.NewTool("task", "Have another agent do something.", "agent", "prompt")))
	if err != nil {
		return err
	}
	defer model.Close()
	tracer, err := goagent.Open(ctx, goagent.Config{Integration: "subagents", Runtime: "Subagents"})
	if err != nil {
		fmt.Fprintln(os.Stderr, "not traced:", err)
	}
	defer tracer.Close(context.WithoutCancel(ctx))
	model.HTTP = &http.Client{Transport: &anthropic.Transport{}}

	a := &agent{model: model, repository: repository}
	prompt := toy.Prompt("Have this repository looked at.", "review")
	answer, err := runtypes.RunTurn(ctx, tracer.Sink(), tracer.Identity(ctx, repository.Dir, "thread-1"), prompt,
		func(ctx context.Context, _ *runtypes.Turn) (string, error) { return a.do(ctx, prompt) })
	fmt.Fprintln(out, answer)
	return errors.Join(err, toy.Show(ctx, out, tracer))
}

// agent is a model with tools. It and its subagents are one and the same.
type agent struct {
	model      *toy.Model
	repository *toy.Workspace
}

// maxSteps bounds the model calls of an agent.
const maxSteps = 50

// do asks the model and runs the tools it calls, side by side, until it calls none.
// What is traced goes under the turn, or the subagent, in ctx.
func (a *agent) do(ctx context.Context, prompt string) (string, error) {
	conversation := []toy.Message{toy.User(prompt)}
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
		results := make([]toy.Block, len(calls))
		var tools sync.WaitGroup
		for i, call := range calls {
			tool := runtypes.FromContext(ctx).Tool(call.Name, call.ID, call.Input)
			tools.Go(func() {
				defer tool.Guard(ctx)
				output, err := a.tool(tool.Context(ctx), call)
				tool.Done(output, err)
				results[i] = toy.Result(call.ID, output, err)
			})
		}
		tools.Wait()
		conversation = append(conversation, toy.Message{Role: "user", Content: results})
	}
	return "", errors.New("too many steps")
}

// tool runs a tool. One of them is another agent.
func (a *agent) tool(ctx context.Context, call toy.Block) (string, error) {
	if call.Name != "task" {
		return a.repository.Do(ctx, call.Name, call.Input)
	}
	var task struct{ Agent, Prompt string }
	if err := json.Unmarshal(call.Input, &task); err != nil {
		return "", fmt.Errorf("task: arguments: %w", err)
	}
	sub := runtypes.FromContext(ctx).Subagent(task.Agent, call.ID, task.Prompt)
	defer sub.Guard(ctx)
	answer, err := a.do(runtypes.NewContext(ctx, sub), task.Prompt)
	sub.Done(answer, err)
	return answer, err
}
