package cursor

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracesmith/tracesmith/runtypes"
)

// conversations writes a database as Cursor keeps it.
func conversations(t *testing.T, config string, bubbles map[string]string) {
	t.Helper()
	dir := filepath.Join(config, "Cursor", "User", "globalStorage")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "state.vscdb"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"); err != nil {
		t.Fatal(err)
	}
	for key, value := range bubbles {
		if _, err := db.Exec("INSERT INTO cursorDiskKV VALUES (?, ?)", key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestImagesOfAPromptAreAttachedToItsTurn(t *testing.T) {
	config := t.TempDir()
	conversations(t, config, map[string]string{
		"bubbleId:c:1": `{"type":1,"text":"what is this?","context":{"selectedImages":[{"path":"/img/a.png","uuid":"u"},{"path":"/img/gone.jpg"}]}}`,
		"bubbleId:c:2": `{"type":1,"text":"another prompt","context":{"selectedImages":[{"path":"/img/other.png"}]}}`,
		"bubbleId:c:3": `{"type":2,"text":"what is this?","context":{"selectedImages":[{"path":"/img/answer.png"}]}}`,
		"bubbleId:c:4": `"selectedImages":[{ no JSON`,
		"bubbleId:d:1": `{"type":1,"text":"what is this?","context":{"selectedImages":[{"path":"/img/elsewhere.png"}]}}`,
	})
	w := newWorld(t)
	w.cut = true
	for _, file := range []string{"a", "other", "answer", "elsewhere"} {
		w.files["/img/"+file+".png"] = file
	}
	d := saying(of("c", "1"), "what is this?")
	d.Hash, d.Config, d.Attachments = hashOf("what is this?"), config, []string{"/rule.md"}
	w.hear("beforeSubmitPrompt", d)
	w.hear("afterAgentResponse", saying(of("c", "1"), "a"))
	stop := of("c", "1")
	stop.Status = "completed"
	w.hear("stop", stop)
	root := w.of(runtypes.KindRoot)[0]
	if len(root.Attachments) != 1 || string(root.Attachments[0].Data) != "a" || root.Attachments[0].Name != "a_png" || root.Attachments[0].MIMEType != "image/png" {
		t.Errorf("attached %+v", root.Attachments)
	}
	if root.Metadata["attachments_dropped"] != 1 {
		t.Errorf("%v are counted as dropped", root.Metadata["attachments_dropped"])
	}
	if want := `{"type":"file","name":"/rule.md"}`; !strings.Contains(string(root.Inputs), want) {
		t.Errorf("inputs %s", root.Inputs)
	}
}

func TestWhereCursorKeepsItsConversations(t *testing.T) {
	const file = "/Cursor/User/globalStorage/state.vscdb"
	got := databases("/cfg", `C:\Users\dev\.cursor\projects\w\agent-transcripts\c\c.jsonl`)
	want := []string{"/cfg" + file, "C:/Users/dev/.config" + file, "C:/Users/dev/Library/Application Support" + file, "C:/Users/dev/AppData/Roaming" + file}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := databases("", "/elsewhere/c.jsonl"); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
