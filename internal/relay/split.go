package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

var errNoRoute = errors.New("relay: the request cannot be split")

// without is a body less the operations that were taken up, uncompressed. What is left
// keeps the bytes of its runs. attachments counts the files that are left out.
func without(r *http.Request, raw []byte, taken []operation) (rest []byte, attachments int, err error) {
	body, err := ingest.Plain(r.Header, raw, ingest.Limits{Wire: maxBody, Decoded: maxDecoded})
	if err != nil {
		return nil, 0, fmt.Errorf("relay: split: %w", err)
	}
	out := map[string]bool{}
	for _, op := range taken {
		out[string(op.verb)+"."+op.wire.ID] = true
		out["attachment."+op.wire.ID] = true
	}
	switch pathOf(r) {
	case "/runs/multipart":
		return lessParts(r.Header.Get("Content-Type"), body, out)
	case "/runs/batch":
		rest, err = lessRuns(body, out)
		return rest, 0, err
	}
	return nil, 0, errNoRoute // a single run is taken up or it is not
}

func lessParts(contentType string, body []byte, out map[string]bool) (rest []byte, attachments int, err error) {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, 0, fmt.Errorf("relay: split: %w", err)
	}
	var buf bytes.Buffer
	to := multipart.NewWriter(&buf)
	if err := to.SetBoundary(params["boundary"]); err != nil {
		return nil, 0, fmt.Errorf("relay: split: %w", err)
	}
	from := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for {
		part, err := from.NextRawPart()
		if errors.Is(err, io.EOF) { // a body cut short was refused before
			break
		}
		if err != nil {
			return nil, 0, fmt.Errorf("relay: split: %w", err)
		}
		verb, name, _ := strings.Cut(part.FormName(), ".")
		id, _, _ := strings.Cut(name, ".")
		if out[verb+"."+strings.ToLower(id)] {
			if verb == "attachment" {
				attachments++
			}
			continue
		}
		w, err := to.CreatePart(part.Header)
		if err == nil {
			_, err = io.Copy(w, part)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("relay: split: %w", err)
		}
	}
	if err := to.Close(); err != nil {
		return nil, 0, fmt.Errorf("relay: split: %w", err)
	}
	return buf.Bytes(), attachments, nil
}

func lessRuns(body []byte, out map[string]bool) ([]byte, error) {
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(body, &whole); err != nil {
		return nil, fmt.Errorf("relay: split: %w", err)
	}
	for _, verb := range []string{string(runtypes.Post), string(runtypes.Patch)} {
		var runs []json.RawMessage
		if err := json.Unmarshal(whole[verb], &runs); err != nil && whole[verb] != nil {
			return nil, fmt.Errorf("relay: split: %w", err)
		}
		runs = slices.DeleteFunc(runs, func(raw json.RawMessage) bool {
			var run struct {
				ID string `json:"id"`
			}
			_ = json.Unmarshal(raw, &run) // of one that is no object the id is empty
			return out[verb+"."+strings.ToLower(run.ID)]
		})
		if delete(whole, verb); len(runs) > 0 {
			whole[verb] = list(runs)
		}
	}
	var rest bytes.Buffer // an encoder would change the bytes
	rest.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(whole)) {
		name, err := json.Marshal(key)
		if err != nil {
			return nil, fmt.Errorf("relay: split: %w", err)
		}
		if i > 0 {
			rest.WriteByte(',')
		}
		rest.Write(append(append(name, ':'), whole[key]...))
	}
	rest.WriteByte('}')
	return rest.Bytes(), nil
}

func list(runs []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, run := range runs {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, run...)
	}
	return append(out, ']')
}
