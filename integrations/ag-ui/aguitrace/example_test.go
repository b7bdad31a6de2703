package aguitrace_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tracesmith/tracesmith/integrations/ag-ui/aguitrace"
	"github.com/tracesmith/tracesmith/runtypes"
)

// An agent's handler is wrapped, and its streams become runs. In place of the Recorder a
// program has the sink of goagent.Open, or an exporter.Batcher.
func ExampleTracer_Handler() {
	agent := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}

data: {"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"hello"}

data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}

`)
	})
	sink := &runtypes.Recorder{}
	tracer := aguitrace.New(sink, aguitrace.Options{})
	handler := tracer.Handler(agent)

	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}")))

	if err := tracer.Wait(context.Background()); err != nil {
		fmt.Println(err)
	}
	runs, err := sink.Runs()
	if err != nil {
		fmt.Println(err)
	}
	for _, run := range runs {
		fmt.Println(run.Kind, run.Name)
	}
	// Output:
	// root AG-UI run
	// llm AG-UI
}
