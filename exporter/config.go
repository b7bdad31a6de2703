package exporter

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tracesmith/tracesmith/exporter/internal/dialect"
	"github.com/tracesmith/tracesmith/runtypes"
)

// Defaults of Config. The two batch limits are LangSmith's own; a server that
// states others in /info is obeyed.
const (
	DefaultEndpoint   = "https://api.smith.langchain.com"
	DefaultProject    = "default"
	DefaultMaxBatch   = 100
	DefaultMaxBytes   = 20 << 20
	DefaultQueueBytes = 128 << 20
	DefaultInFlight   = 4
	DefaultInterval   = 250 * time.Millisecond
	DefaultMaxElapsed = 5 * time.Minute
)

// Config says where runs go and how. The zero value of every field is usable.
type Config struct {
	Endpoint    string // base URL; self-hosted ends in /api/v1. Empty: DefaultEndpoint
	APIKey      string // sent as x-api-key. Empty: no authentication
	WorkspaceID string // sent as X-Tenant-Id, which organisation-wide keys need
	Project     string // project of runs that name none. Empty: DefaultProject

	// Address files runs that name no project under an agent and one of its
	// environments, in place of Project: see AgentAddress. The server has to be of
	// version 0.18 or later.
	Address string

	// Token gives the OAuth access token that is sent where there is no APIKey, and
	// is asked before every request: it caches. refused is the token that the server
	// has just answered 401 to, empty otherwise. See package exporter/profile.
	Token func(ctx context.Context, refused string) (string, error)

	// Credentials are headers that authenticate in place of APIKey and Token:
	// X-Service-Key, Authorization or Cookie.
	Credentials http.Header

	// Replicas are the destinations, if there are several or runs change on their
	// way. A Batcher serves each by a queue and senders of its own.
	Replicas []Replica
	replica  *Replica // the one this Config was split off for
	unusable error    // set where to go on would take runs to where they do not belong

	// Dialect is what the server takes, if it is no LangSmith: package exporter/otlp sets it.
	Dialect *dialect.Dialect

	Header http.Header // more headers; they replace none of the exporter's own

	// HTTPClient sends the requests. Its redirect policy is replaced. Nil: a
	// client of the exporter's own.
	HTTPClient *http.Client

	// How the client of the exporter's own connects; without effect beside HTTPClient.
	TLS   *tls.Config                           // certificates to trust and to show. Nil: the system's, and none
	Proxy func(*http.Request) (*url.URL, error) // Nil: that of the environment

	// Wrap is put around what sends requests, to watch them: what it returns must send
	// them on. Nil: nothing is.
	Wrap func(http.RoundTripper) http.RoundTripper

	// AllowHTTP lets runs and the key go unencrypted to another machine: an http://
	// endpoint is refused otherwise, unless it is on this one.
	AllowHTTP bool

	MaxBatch   int           // ops in a request. 0: what the server states, else DefaultMaxBatch
	MaxBytes   int           // bytes in a request before compression. 0: as above, else DefaultMaxBytes
	QueueBytes int64         // bytes a Batcher holds, queued and under way; the process may grow by twice that. 0: DefaultQueueBytes
	InFlight   int           // requests a Batcher has under way, of different traces. 0: DefaultInFlight
	Interval   time.Duration // longest a Batcher keeps a run waiting for company. 0: DefaultInterval
	MaxElapsed time.Duration // longest a request is tried, first attempt to last. 0: DefaultMaxElapsed

	Sampling     *float64 // part of the traces that is kept, by a hash of their ids. Nil: all
	HideInputs   bool     // send {} in their place
	HideOutputs  bool
	HideMetadata bool // the identity as well

	// Metadata is added to that of every run, whose own values win.
	Metadata map[string]any

	NoCompression bool // send bodies as they are
	Level         int  // zstd's, 1 to 22. 0: 1, the fastest

	// Spool keeps what a Batcher has accepted until it is delivered or dropped, so
	// that it outlives the process: see package exporter/spool. Submit then redacts,
	// serialises and writes before it returns, and what cannot be delivered for now
	// is tried again for ever. One Spool serves one destination, and its owner closes
	// it after Shutdown. Nil: nothing is kept.
	Spool Spool

	// Redact removes secrets from a run; it gets a copy and may change all of it.
	// An error or a panic drops the run. Nil: the built-in rules. See NoRedaction.
	Redact func(*runtypes.Run) error

	// OnDrop is told of every op that will not arrive, with a *DropError. The ops
	// are those handed in, not redacted. It must not block, and may be called
	// from several goroutines at once.
	OnDrop func(lost []runtypes.Op, why error)

	// Logger gets ids, counts and durations, never content. Nil: silence.
	Logger *slog.Logger
}

// NoRedaction as Config.Redact sends runs as they are.
func NoRedaction(*runtypes.Run) error { return nil }

// withDefaults fills in what is not set and checks the rest.
func (c Config) withDefaults() (Config, error) {
	c.Endpoint = strings.TrimRight(unquote(c.Endpoint), "/")
	c.APIKey, c.WorkspaceID = unquote(c.APIKey), unquote(c.WorkspaceID)
	if c.Endpoint == "" {
		c.Endpoint = DefaultEndpoint
	}
	if err := c.check(); err != nil {
		return c, err
	}
	if c.Project == "" && c.Address == "" && c.Dialect == nil {
		c.Project = DefaultProject
	}
	if c.Sampling != nil {
		c.Metadata = joined(c.Metadata, map[string]any{"ls_tracing_sample_rate": *c.Sampling})
	}
	if c.QueueBytes == 0 {
		c.QueueBytes = DefaultQueueBytes
	}
	if c.InFlight == 0 {
		c.InFlight = DefaultInFlight
	}
	if c.Interval == 0 {
		c.Interval = DefaultInterval
	}
	if c.MaxElapsed == 0 {
		c.MaxElapsed = DefaultMaxElapsed
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// unquote trims blanks and one pair of quotes, which settings copied from shell
// scripts and .env files often carry.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		s = strings.TrimSpace(s[1 : n-1])
	}
	return s
}
