package cursor

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/integrations"
	"github.com/tracesmith/tracesmith/internal/agentkit"
	"github.com/tracesmith/tracesmith/runtypes"
)

// maxImages bounds the files of a prompt that are read; each may have 1 MiB.
const maxImages = 16

// selected finds the rows of a conversation that have images. Hooks tell of none.
const selected = `SELECT CAST(value AS TEXT) FROM cursorDiskKV
WHERE key >= ? AND key < ? AND CAST(value AS TEXT) LIKE '%"selectedImages":[{%'`

// databases are the places where Cursor keeps its conversations. config is the folder
// that programs keep their settings in, where a variable says so.
func databases(config, transcript string) []string {
	const file = "/Cursor/User/globalStorage/state.vscdb"
	var list []string
	if config != "" {
		list = append(list, config+file)
	}
	slashed := strings.ReplaceAll(transcript, `\`, "/")
	if home, _, ok := strings.Cut(slashed, "/.cursor/projects/"); ok {
		for _, folder := range [...]string{"/.config", "/Library/Application Support", "/AppData/Roaming"} {
			list = append(list, home+folder+file)
		}
	}
	return list
}

// images lists the files that the user put into a prompt, by what Cursor's database has.
func images(src integrations.Source, d *data, talk, hash string) []string {
	if hash == "" || !plain(talk) {
		return nil
	}
	key := "bubbleId:" + talk
	var found []string
	for _, db := range databases(d.Config, d.Transcript) {
		for row, err := range src.Rows(db, selected, key+":", key+";") {
			if err != nil {
				break // it is not there, or of another shape
			}
			text, _ := row[0].(string)
			for _, file := range imagesOf(text, hash) {
				if !slices.Contains(found, file) && len(found) < maxImages {
					found = append(found, file)
				}
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}

// imagesOf reads them off a message of the user's, if it is that prompt.
func imagesOf(bubble, hash string) []string {
	var in struct {
		Type    int    `json:"type"`
		Text    string `json:"text"`
		Context struct {
			Images []struct {
				Path string `json:"path"`
			} `json:"selectedImages"`
		} `json:"context"`
	}
	const users = 1
	if json.Unmarshal([]byte(bubble), &in) != nil || in.Type != users || agentkit.HashText(in.Text) != hash {
		return nil
	}
	var list []string
	for _, image := range in.Context.Images {
		if image.Path != "" {
			list = append(list, image.Path)
		}
	}
	return list
}

// show attaches the images of a turn's prompt to its root. One may be gone, or too large.
func show(src integrations.Source, root *runtypes.Run, t *turn) {
	e, d, err := recall(src, t.First)
	if err != nil || e.Kind != "beforeSubmitPrompt" {
		return
	}
	files := images(src, d, t.Talk, t.Hash)
	for _, file := range files {
		content, err := src.File(file)
		if err != nil {
			dropped, _ := root.Metadata[metaDropped].(int)
			root.Metadata[metaDropped] = dropped + 1
			continue
		}
		name := path.Base(strings.ReplaceAll(file, `\`, "/"))
		root.Attachments = append(root.Attachments, runtypes.Attachment{
			Name: strings.ReplaceAll(name, ".", "_"), MIMEType: mimeOf(name), Data: content,
		})
	}
}

// mimeOf is a file's type by its name.
func mimeOf(name string) string {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".png", ".gif", ".webp":
		return "image/" + ext[1:]
	case ".svg":
		return "image/svg+xml"
	case ".pdf":
		return "application/pdf"
	}
	return "application/octet-stream"
}
