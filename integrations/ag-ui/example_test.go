package agui_test

import (
	"fmt"
	"strings"

	agui "github.com/tracesmith/tracesmith/integrations/ag-ui"
)

// A stream is decoded an event at a time and assembled as it comes.
func Example() {
	stream := `data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}

data: {"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hel","metadata":{"model":"big"}}

data: {"type":"TEXT_MESSAGE_CHUNK","delta":"lo","metadata":{"usage":{"output":2}}}

data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}

`
	decoder := agui.NewDecoder(strings.NewReader(stream), agui.Options{})
	assembler := agui.NewAssembler()
	for {
		frame, err := decoder.Next()
		if err != nil {
			break // io.EOF
		}
		assembler.Apply(frame)
	}
	assembler.Close()
	for _, m := range assembler.Messages() {
		usage, _ := m.Metadata.Get("usage")
		fmt.Printf("%s says %s, %s\n", agui.Text(m.Role), m.Content, usage)
	}
	// Output: assistant says "Hello", {"output":2}
}
