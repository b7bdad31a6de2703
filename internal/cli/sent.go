package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/tracesmith/tracesmith/internal/journal"
)

// sentCommand prints what left the machine.
func sentCommand(a *app) *cobra.Command {
	var last bool
	cmd := &cobra.Command{
		Use:   "sent [--last|TRACE]",
		Short: "Print exactly what was sent to LangSmith of a turn",
		Long: `Print every part of every request that LangSmith has accepted of a turn, byte for byte
as it was sent, before compression. It is read from the copies that drainers keep of
their requests (the newest 32 MiB; none where store = false), not built anew.
TRACE is a trace's id or the beginning of one. Without it, it is the turn sent last.`,
		Args: argCount(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if last && len(args) > 0 {
				return usagef("sent: give a TRACE or --last, not both")
			}
			state, err := a.openState()
			if err != nil {
				return err
			}
			return oneLine(a.sent(state, strings.ToLower(strings.Join(args, ""))))
		},
	}
	cmd.Flags().BoolVar(&last, "last", false, "the turn that was sent last (the default)")
	return cmd
}

// minTrace is how much of a trace's id must be given.
const minTrace = 8

func (a *app) sent(state *journal.State, trace string) error {
	if trace != "" && len(trace) < minTrace {
		return usagef("sent: give at least %d characters of the trace's id", minTrace)
	}
	type request struct {
		journal.Sent
		parts []part
	}
	var found []request
	var failures []error
	for each, err := range state.EachSent() {
		if err != nil {
			failures = append(failures, err)
			continue
		}
		parts := takeApart(each)
		if trace == "" && len(parts) > 0 {
			trace = parts[len(parts)-1].trace
		}
		parts = slices.DeleteFunc(parts, func(p part) bool { return trace == "" || !strings.HasPrefix(p.trace, trace) })
		if len(parts) > 0 {
			trace = parts[0].trace
			found = append(found, request{each, parts})
		}
	}
	if len(found) == 0 && len(failures) == 0 {
		return errors.New("sent: no copy of such a request is kept (see the turns with: tracesmith show --last 20)")
	}
	for _, each := range slices.Backward(found) {
		fmt.Fprintf(a.stdout, "POST %s at %s, answered %d\n", each.To, each.At.UTC().Format(time.RFC3339), each.Status)
		for _, p := range each.parts {
			fmt.Fprintf(a.stdout, "--- %s (%s, %d bytes)\n%s\n", p.name, p.kind, len(p.data), p.shown())
		}
	}
	return errors.Join(failures...)
}

// part is one of a request that says something of a run.
type part struct {
	name, kind string
	data       []byte
	trace      string
}

// shown is the part's content. What is no text would do things to a terminal.
func (p part) shown() []byte {
	if !utf8.Valid(p.data) || bytes.ContainsFunc(p.data, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
		return []byte("(no text)")
	}
	return p.data
}

// takeApart lists the parts of a request, each with the trace of its run.
func takeApart(r journal.Sent) []part {
	kind, params, _ := mime.ParseMediaType(r.ContentType)
	if kind != "multipart/form-data" {
		return fromBatch(r.Body)
	}
	var parts []part
	traces := map[string]string{} // by run
	form := multipart.NewReader(bytes.NewReader(r.Body), params["boundary"])
	for {
		each, err := form.NextRawPart()
		if err != nil {
			break
		}
		data, err := io.ReadAll(each)
		if err != nil {
			break
		}
		p := part{name: each.FormName(), kind: each.Header.Get("Content-Type"), data: data}
		run := runOf(p.name)
		if id := traceOf(data); id != "" && traces[run] == "" && strings.Count(p.name, ".") == 1 {
			traces[run] = id
		}
		parts = append(parts, p)
	}
	for i := range parts {
		parts[i].trace = traces[runOf(parts[i].name)]
	}
	return parts
}

// runOf is the run in a part's name: post.RUN, patch.RUN.inputs, attachment.RUN.name.
func runOf(name string) string {
	if pieces := strings.SplitN(name, ".", 3); len(pieces) > 1 {
		return pieces[1]
	}
	return ""
}

func traceOf(run []byte) string {
	var head struct {
		TraceID string `json:"trace_id"`
	}
	if json.Unmarshal(run, &head) != nil {
		return ""
	}
	return strings.ToLower(head.TraceID)
}

// fromBatch lists the runs of a request to a server without multipart.
func fromBatch(body []byte) []part {
	var batch map[string][]json.RawMessage
	if json.Unmarshal(body, &batch) != nil {
		return nil
	}
	var parts []part
	for _, verb := range []string{"post", "patch"} {
		for _, run := range batch[verb] {
			parts = append(parts, part{name: verb, kind: "application/json", data: run, trace: traceOf(run)})
		}
	}
	return parts
}
