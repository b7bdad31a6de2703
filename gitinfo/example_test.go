package gitinfo_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tracesmith/tracesmith/gitinfo"
)

func ExampleDetectIdentity() {
	dir, err := os.MkdirTemp("", "widgets-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	id := gitinfo.DetectIdentity(context.Background(), dir)
	id.Integration, id.Runtime, id.ThreadID = "my-agent", "My Agent", "conversation-7"
	fmt.Println(id.AgentRuntime(), id.Integration, id.ThreadID, filepath.IsAbs(id.WorkingDirectory))
	// Output: My Agent my-agent conversation-7 true
}
