//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// serveStock in the environment of this test's own program makes it an MCP server.
const serveStock = "TRACESMITH_E2E_SERVE_STOCK"

// stock is an MCP server with two tools: one looks an item up, one fails.
func stock(in io.Reader, out io.Writer) {
	encode := json.NewEncoder(out)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var request struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name            string
				ProtocolVersion string
			}
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil || request.ID == nil {
			continue // a notification
		}
		result := map[string]any{}
		switch request.Method {
		case "initialize":
			result["protocolVersion"] = request.Params.ProtocolVersion
			result["capabilities"] = map[string]any{"tools": map[string]any{}}
			result["serverInfo"] = map[string]any{"name": "stock", "version": "1.0.0"}
		case "tools/list":
			result["tools"] = []any{stockTool("lookup"), stockTool("fail")}
		case "tools/call":
			failed := request.Params.Name == "fail"
			text := map[bool]string{false: "7 in stock", true: "no such item"}[failed]
			result["content"], result["isError"] = []any{map[string]any{"type": "text", "text": text}}, failed
		}
		if encode.Encode(map[string]any{"jsonrpc": "2.0", "id": request.ID, "result": result}) != nil {
			return
		}
	}
}

func stockTool(name string) map[string]any {
	return map[string]any{"name": name, "description": name + " an item", "inputSchema": map[string]any{
		"type": "object", "properties": map[string]any{"sku": map[string]any{"type": "string"}},
	}}
}

func TestMCPTools(t *testing.T) {
	t.Parallel()
	long(t)
	w := newWorld(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"stock": map[string]any{
		"command": program, "env": map[string]string{serveStock: "1"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	servers := filepath.Join(w.home, "servers.json")
	w.write(servers, string(config))
	s := w.begin("SCENARIO:mcp", "--mcp-config", servers, "--strict-mcp-config")
	s.wait()
	turn := w.turns(s.thread, 1)[0]
	turn.has(2, 2)
	turn.completed("W-1 has 7 in stock.")
	for _, tool := range turn.tools {
		w.wants(tool, "mcp_server", "stock")
		if failed := tool.Error != ""; failed != (tool.Name == "mcp__stock__fail") {
			t.Errorf("%s has error %q", tool.Name, tool.Error)
		}
	}
}
