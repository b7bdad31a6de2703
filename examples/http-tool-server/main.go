// Http-tool-server is an agent with a tool that lives behind HTTP. The server joins
// the agent's trace: what it does stands under the tool call that asked for it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"

	"github.com/tracesmith/tracesmith/examples/internal/toy"
	"github.com/tracesmith/tracesmith/integrations/anthropic"
	"github.com/tracesmith/tracesmith/integrations/goagent"
	"github.com/tracesmith/tracesmith/integrations/tracehttp"
	"github.com/tracesmith/tracesmith/runtypes"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "http-tool-server:", err)
		os.Exit(1)
	}
}

// run starts the server and has the agent do one turn. They could be two programs:
// they share nothing but HTTP.
func run(ctx context.Context, out io.Writer) error {
	warehouse, err := startWarehouse(ctx)
	if err != nil {
		return err
	}
	defer warehouse.close(context.WithoutCancel(ctx))
	model, err := toy.NewModel(toy.Scripts(), []toy.Tool{toy.NewTool("count", "Count what is in the warehouse.", "item")})
	if err != nil {
		return err
	}
	defer model.Close()
	tracer, err := goagent.Open(ctx, goagent.Config{Integration: "http-tool-server", Runtime: "Counter"})
	if err != nil {
		fmt.Fprintln(os.Stderr, "not traced:", err)
	}
	defer tracer.Close(context.WithoutCancel(ctx))
	model.HTTP = &http.Client{Transport: &anthropic.Transport{}}

	a := &agent{
		model: model, tools: &http.Client{Transport: &tracehttp.Transport{}}, url: warehouse.url,
		prompt: toy.Prompt("How many widgets and sprockets are there?", "count"),
	}
	answer, err := runtypes.RunTurn(ctx, tracer.Sink(), tracer.Identity(ctx, "", "thread-1"), a.prompt, a.turn)
	fmt.Fprintln(out, answer)
	a.tools.CloseIdleConnections()
	return errors.Join(err, warehouse.close(context.WithoutCancel(ctx)), toy.Show(ctx, out, tracer))
}

// agent is a model with a tool behind HTTP and a task.
type agent struct {
	model  *toy.Model
	tools  *http.Client
	url    string
	prompt string
}

// maxSteps bounds the model calls of a turn.
const maxSteps = 50

// turn asks the model and calls the server for it until the model is satisfied.
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
			output, err := a.count(tool.Context(ctx), call.Input)
			tool.Done(output, err)
			results.Content = append(results.Content, toy.Result(call.ID, output, err))
		}
		conversation = append(conversation, results)
	}
	return "", errors.New("too many steps")
}

// count asks the server. The trace goes with the request.
func (a *agent) count(ctx context.Context, input json.RawMessage) (string, error) {
	var args struct{ Item string }
	if err := json.Unmarshal(input, &args); err != nil {
		return "", fmt.Errorf("count: arguments: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+"/count?"+url.Values{"item": {args.Item}}.Encode(), nil)
	if err != nil {
		return "", err
	}
	resp, err := a.tools.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	return string(body), err
}

// warehouse is the tool server.
type warehouse struct {
	url    string
	server *http.Server
	served chan struct{} // closed when the server has ended
	tracer *goagent.Tracer
}

func startWarehouse(ctx context.Context) (*warehouse, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	tracer, err := goagent.Open(ctx, goagent.Config{}) // its runs go where those of the agent do
	if err != nil {
		fmt.Fprintln(os.Stderr, "not traced:", err)
	}
	w := &warehouse{url: "http://" + listener.Addr().String(), served: make(chan struct{}), tracer: tracer}
	w.server = &http.Server{Handler: tracehttp.Handler(tracehttp.Options{Sink: tracer.Sink()}, http.HandlerFunc(w.count))}
	go func() {
		defer close(w.served)
		_ = w.server.Serve(listener) // until close, which knows how it ended
	}()
	return w, nil
}

// count answers how many of an item there are.
func (w *warehouse) count(out http.ResponseWriter, r *http.Request) {
	item := r.URL.Query().Get("item")
	shelf := runtypes.FromContext(r.Context()).Tool("look at the shelf", "", map[string]string{"item": item})
	if item != "widgets" {
		err := fmt.Errorf("no shelf for %s", item)
		shelf.Fail(err)
		http.Error(out, err.Error(), http.StatusNotFound)
		return
	}
	shelf.End(3)
	fmt.Fprint(out, 3)
}

// close ends the server and delivers what it recorded; later calls do nothing.
func (w *warehouse) close(ctx context.Context) error {
	err := w.server.Shutdown(ctx)
	<-w.served
	return errors.Join(err, w.tracer.Close(ctx))
}
