package exporter

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tracesmith/tracesmith/exporter/internal/dialect"
	"github.com/tracesmith/tracesmith/runtypes"
)

// newForeign encodes records for a server that is no LangSmith. Where that fails it is
// as if the server had refused the request as malformed: what spoils it is found and
// dropped alone.
func (c *Client) newForeign(records []*record) (*request, error) {
	d := c.cfg.Dialect
	runs := make([]dialect.Run, len(records))
	for i, r := range records {
		var err error
		if runs[i], err = r.run(); err != nil {
			return nil, &StatusError{Status: http.StatusBadRequest, Path: d.Path}
		}
	}
	body, err := d.Body(runs)
	if err != nil {
		return nil, &StatusError{Status: http.StatusBadRequest, Path: d.Path}
	}
	req := &request{path: d.Path, header: http.Header{"Content-Type": {d.ContentType}}, body: body, plain: len(body)}
	if as := c.server.plainest(); len(body) >= compressFrom && as != codingNone {
		if packed, ok := c.coder.encode(as, body); ok {
			req.body, req.coding = packed, as
			req.header.Set("Content-Encoding", string(as))
		}
	}
	return req, nil
}

// run is the record as a whole.
func (r *record) run() (dialect.Run, error) {
	w, err := r.head()
	run := dialect.Run{Wire: w}
	for _, f := range r.fields {
		switch f.name {
		case "inputs":
			run.Inputs = f.raw
		case "outputs":
			run.Outputs = f.raw
		case "events":
			run.Events = f.raw
		case "extra":
			run.Extra = f.raw
		case "error":
			if err == nil {
				err = json.Unmarshal(f.raw, &run.Error)
			}
		}
	}
	for _, file := range r.files {
		run.Files = append(run.Files, runtypes.Attachment{Name: file.name, MIMEType: file.mime, Data: file.data})
	}
	return run, err
}

// partly settles a request that was accepted but for some of its items. Which they are
// is not known, unless it is all of them; a server that says so must not be sent any of
// them again.
func (c *Client) partly(items []*item, refused int) {
	why := &DropError{Reason: ReasonRejected, Err: fmt.Errorf("exporter: %s: %d of %d runs not taken", c.cfg.Dialect.Path, refused, len(items))}
	if refused >= len(items) {
		for _, it := range items {
			c.dropItem(it, why)
		}
		return
	}
	c.delivered(items)
	why.Unnamed, items[0].unnamed = refused, refused
	c.stats.undelivered(refused)
	c.drop(nil, why)
}
