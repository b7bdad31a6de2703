package profile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tracesmith/tracesmith/exporter/profile"
)

// The environment comes before what "langsmith login" has stored. A program passes
// os.Getenv.
func Example() {
	dir, err := os.MkdirTemp("", "profile")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "config.json")
	stored := `{"current_profile":"work","profiles":{"work":{"api_url":"https://eu.api.smith.langchain.com","api_key":"lsv2_pt_…"}}}`
	if err := os.WriteFile(path, []byte(stored), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	env := map[string]string{"LANGSMITH_CONFIG_FILE": path, "LANGSMITH_PROJECT": "my-agent"}

	cfg, err := profile.Config(func(name string) string { return env[name] })
	fmt.Println(cfg.Endpoint, cfg.Project, err)
	// Output: https://eu.api.smith.langchain.com my-agent <nil>
}
