package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/tracesmith/tracesmith/exporter"
	"github.com/tracesmith/tracesmith/internal/config"
	"github.com/tracesmith/tracesmith/internal/idgen"
	"github.com/tracesmith/tracesmith/internal/langsmith"
	"github.com/tracesmith/tracesmith/runtypes"
)

const delivery = "delivery"

// How long the test run is tried, and looked for afterwards: LangSmith takes runs
// first and shows them later.
const (
	tryFor  = 8 * time.Second
	lookFor = 5 * time.Second
	lookGap = 500 * time.Millisecond
)

// Deliver looks at a destination layer by layer and, with send, sends a test run
// there.
func (r *Report) Deliver(ctx context.Context, n Network, t Target, send bool) {
	if t.Unusable == nil {
		_, t.Unusable = t.Reach()
	}
	if t.Unusable != nil {
		r.problem(delivery, "see the keys, certificates and endpoints with: tracesmith config explain", "nothing can be sent to %s: %v", t.Endpoint, t.Unusable)
		return
	}
	if n.Proxy == nil {
		n.Proxy = t.Proxy
	}
	if n.TLS == nil {
		n.TLS = t.TLS
	}
	n = n.withDefaults()
	if !r.reach(ctx, n, t) {
		return
	}
	if !send {
		r.unsent(ctx, n, t)
		return
	}
	run := testRun(n.Now())
	err := export(ctx, n, t, run)
	if err != nil {
		r.refused(ctx, n, t, err)
		return
	}
	project := t.Project
	if project == "" {
		project = exporter.DefaultProject
	}
	r.ok("key", "%s is accepted (from %s)", t.KeyShown, t.KeySource)
	r.found(ctx, n, t, run, project)
}

// unsent reports on the key where no test run is to be sent. A key that may not read
// can be one that may write.
func (r *Report) unsent(ctx context.Context, n Network, t Target) {
	r.note(delivery, "", "no test run was sent")
	client, end := n.client(t)
	defer end()
	var refused *langsmith.StatusError
	if !errors.As(client.Check(ctx), &refused) {
		return
	}
	switch refused.Status {
	case http.StatusUnauthorized:
		r.problem("key", r.keyFix(ctx, n, t), "401: the key %s is not accepted (from %s)", t.KeyShown, t.KeySource)
	case http.StatusForbidden:
		if other := r.elsewhere(ctx, n, t); other != "" {
			r.problem("key", other, "403: the key %s may not read there (from %s)", t.KeyShown, t.KeySource)
		}
	}
}

// testRun is the run that is sent. It says what it is.
func testRun(now time.Time) *runtypes.Run {
	run := runtypes.Root(idgen.New(), now, runtypes.Identity{
		Integration: "tracesmith", Runtime: "Tracesmith", RuntimeVersion: runtypes.Version(), ThreadID: "tracesmith-doctor",
	})
	run.Name = "tracesmith doctor"
	run.Inputs = runtypes.Messages(runtypes.Message{Role: "user", Content: "Does a run arrive?"})
	run.Outputs = runtypes.Messages(runtypes.Message{Role: "assistant", Content: "Yes: this is the test run of tracesmith doctor."})
	run.Tags = []string{"tracesmith-doctor"}
	return runtypes.Finish(run, now.Add(time.Millisecond))
}

// export sends the run by the way that every run goes.
func export(ctx context.Context, n Network, t Target, run *runtypes.Run) error {
	cfg := t.Config
	cfg.MaxElapsed, cfg.Redact = min(tryFor, n.Patience), exporter.NoRedaction
	transport := n.transport(new(journey))
	defer transport.CloseIdleConnections()
	cfg.HTTPClient = &http.Client{Transport: transport}
	var lost error
	cfg.OnDrop = func(_ []runtypes.Op, why error) { lost = why }
	client, err := exporter.NewClient(cfg)
	if err != nil {
		return err
	}
	_, err = client.Export(ctx, []runtypes.Op{{Verb: runtypes.Post, Run: run}})
	return errors.Join(err, lost, client.Close())
}

// found reports whether the run can be seen.
func (r *Report) found(ctx context.Context, n Network, t Target, run *runtypes.Run, project string) {
	where := fmt.Sprintf("run %s in project %q", run.ID, project)
	deadline, stop := context.WithTimeout(ctx, lookFor)
	defer stop()
	client, end := n.client(t)
	defer end()
	for {
		found, err := client.Run(deadline, run.ID.String())
		var refused *langsmith.StatusError
		switch {
		case err == nil:
			text := "a test run arrived: " + where
			if page := found.Page(t.Endpoint); page != "" {
				text += ", " + page
			}
			r.ok(delivery, "%s", text)
			return
		case errors.As(err, &refused) && refused.Status == http.StatusNotFound && wait(deadline, lookGap):
		default:
			r.ok(delivery, "a test run was accepted: %s (it cannot be read back yet)", where)
			return
		}
	}
}

func (n Network) client(t Target) (client *langsmith.Client, end func()) {
	transport := n.transport(new(journey))
	return &langsmith.Client{
		Endpoint: t.Endpoint, APIKey: t.APIKey, WorkspaceID: t.WorkspaceID, Token: t.Token,
		HTTP: &http.Client{Transport: transport, Timeout: n.Patience},
	}, transport.CloseIdleConnections
}

// refused reports why the run was not taken.
func (r *Report) refused(ctx context.Context, n Network, t Target, err error) {
	var status *exporter.StatusError
	if !errors.As(err, &status) {
		var temporary *exporter.TemporaryError
		if errors.As(err, &temporary) {
			err = temporary.Err
		}
		why := fmt.Sprint(reason(err))
		if timedOut(err) {
			why = "the server took the request and does not answer"
		}
		r.problem(delivery, "try again later; what is recorded is kept and sent then", "the test run was not taken: %s", why)
		return
	}
	said := ""
	if status.Message != "" {
		said = fmt.Sprintf(" (%q)", status.Message)
	}
	switch status.Status {
	case http.StatusUnauthorized:
		r.problem("key", r.keyFix(ctx, n, t), "401: the key %s is not accepted%s (from %s)", t.KeyShown, said, t.KeySource)
	case http.StatusForbidden:
		fix := "an organisation's key needs LANGSMITH_WORKSPACE_ID"
		if t.WorkspaceID != "" {
			fix = fmt.Sprintf("check the workspace %s: the key may not write there", t.WorkspaceID)
		}
		if other := r.elsewhere(ctx, n, t); other != "" {
			fix = other
		}
		r.problem("key", fix, "403: the key %s may not write there%s: wrong workspace, region or plan", t.KeyShown, said)
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		r.problem(network, wrongPath(t), "404: there is no way to send runs at %s%s", t.Endpoint, said)
	case http.StatusTooManyRequests:
		r.problem(delivery, "wait, or ask for a higher limit; what is recorded is kept and sent then", "429: LangSmith's limit is reached%s", said)
	default:
		r.problem(delivery, "try again later; what is recorded is kept and sent then", "the test run was not taken: status %d%s", status.Status, said)
	}
}

func (r *Report) keyFix(ctx context.Context, n Network, t Target) string {
	if other := r.elsewhere(ctx, n, t); other != "" {
		return other
	}
	host := langsmith.Host(t.Endpoint)
	return "make a new key at " + host + " (Settings, API Keys) and set it in " + t.KeySource
}

// elsewhere finds out whether the key belongs to another of LangSmith's regions.
func (r *Report) elsewhere(ctx context.Context, n Network, t Target) string {
	list := langsmith.Elsewhere
	if n.Elsewhere != nil {
		list = n.Elsewhere
	}
	others := list(t.Endpoint)
	for _, name := range slices.Sorted(maps.Keys(others)) {
		there := t
		there.Endpoint, there.WorkspaceID = others[name], ""
		client, end := n.client(there)
		err := client.Check(ctx)
		end()
		if err == nil {
			return fmt.Sprintf("the key belongs to the %s region: set LANGSMITH_ENDPOINT=%s", name, there.Endpoint)
		}
	}
	return ""
}

// wait sleeps, unless the context ends first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Proxies lists the variables that name a proxy in an environment.
func Proxies(env func(string) string) []string {
	var found []string
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if env(name) != "" {
			found = append(found, name+"="+config.WithoutPassword(env(name)))
		}
	}
	return found
}
