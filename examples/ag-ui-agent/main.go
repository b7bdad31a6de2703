// Ag-ui-agent is a small agent that speaks AG-UI: it answers a POST of a RunAgentInput
// with server-sent events. Its model is a script that goes by what the user says.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/tracesmith/tracesmith/integrations/ag-ui/aguitrace"
	"github.com/tracesmith/tracesmith/integrations/goagent"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8000", "address to listen on; port 0 is any free one")
	trace := flag.Bool("trace", false, "record the runs here, rather than in a proxy")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *listen, *trace)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ag-ui-agent:", err)
		os.Exit(1)
	}
}

// run serves the agent until ctx is done.
func run(ctx context.Context, out io.Writer, listen string, trace bool) (err error) {
	var handler http.Handler = http.HandlerFunc(answer)
	if trace {
		to, err := goagent.Open(ctx, goagent.Config{Integration: "ag-ui-agent", Runtime: "AG-UI Agent"})
		if err != nil {
			fmt.Fprintln(os.Stderr, "not traced:", err)
		}
		defer to.Close(context.WithoutCancel(ctx))
		tracer := aguitrace.New(to.Sink(), aguitrace.Options{})
		defer func() { err = errors.Join(err, waitFor(tracer)) }()
		handler = tracer.Handler(handler)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }, // runs end with the program
	}
	fmt.Fprintf(out, "http://%s\n", listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = server.Shutdown(closing)
	<-ended
	return err
}

// waitFor waits for what is recorded of the last streams.
func waitFor(tracer *aguitrace.Tracer) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return tracer.Wait(ctx)
}
