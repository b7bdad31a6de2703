package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// OTLP is a destination that takes OpenTelemetry spans, such as a Collector. It gets runs
// beside LangSmith, if runs go there.
type OTLP struct {
	Endpoint string // without /v1/traces; empty: there is none
	Headers  map[string]string
}

// maxHeaders bounds what is sent along with every request.
const maxHeaders = 32

// ID names the destination's files; empty where there is none. New headers are no new place.
func (o OTLP) ID() string {
	if o.Endpoint == "" {
		return ""
	}
	return "otlp-" + digest(o.Endpoint)
}

// secrets tell one owner of the destination from another.
func (o OTLP) secrets() []string {
	if o.Endpoint == "" {
		return nil
	}
	return append([]string{"otlp"}, pairs(o.Headers)...)
}

// Delivers reports whether there is anywhere beyond this machine for runs to go.
func (c Config) Delivers() bool { return c.LangSmith() || c.OTLP.Endpoint != "" }

// Goes reports whether runs go to the destination of an id.
func (c Config) Goes(id string) bool {
	return id == c.OTLP.ID() && id != "" || slices.ContainsFunc(c.Places(), func(p Place) bool { return p.ID == id })
}

// otlp lists the settings of the destination for spans. They are the user's and the
// policy's alone. The variables of OpenTelemetry itself (OTEL_EXPORTER_OTLP_*) are not
// read: in an agent's environment they say where its own telemetry goes.
func otlp() []field {
	return []field{
		{
			key: "otlp_endpoint", env: []variable{{name: "TRACESMITH_OTLP_ENDPOINT"}},
			set: func(c *Config, s string) (err error) {
				if s == "" { // a policy wants none
					c.OTLP.Endpoint = ""
					return nil
				}
				s, err = parseEndpoint(s)
				if err == nil {
					c.OTLP.Endpoint = strings.TrimSuffix(s, "/v1/traces")
				}
				return err
			},
			text: func(c *Config) string { return c.OTLP.Endpoint },
		},
		{
			key: "otlp_headers", env: []variable{{name: "TRACESMITH_OTLP_HEADERS"}},
			set: func(c *Config, s string) error { return c.OTLP.set(strings.Split(s, ","), "=") },
			text: func(c *Config) string { // names alone: values authenticate
				return strings.Join(slices.Sorted(maps.Keys(c.OTLP.Headers)), ",")
			},
		},
		{
			key: "otlp_headers_file", env: []variable{{name: "TRACESMITH_OTLP_HEADERS_FILE"}},
			set: (*Config).readHeaders, text: func(*Config) string { return "" }, quiet: true,
		},
	}
}

// readHeaders takes the headers from a file with one in a line, as HTTP writes them.
func (c *Config) readHeaders(path string) error {
	path, err := c.absolute(path)
	if err != nil {
		return err
	}
	text, err := readFile(path, maxHeaders*2*maxText)
	if err != nil {
		return errors.New("the headers' file cannot be read")
	}
	return c.OTLP.set(slices.Collect(strings.Lines(string(text))), ":")
}

// set replaces the headers. Its errors show none of them.
func (o *OTLP) set(list []string, sign string) error {
	headers := map[string]string{}
	for _, each := range list {
		if each = clean(each); each == "" {
			continue
		}
		name, value, ok := strings.Cut(each, sign)
		var checked string
		if err := setText(&checked, clean(value)); !ok || err != nil || !token(clean(name)) {
			return fmt.Errorf("want headers as Name%svalue, of at most %d bytes", sign, maxText)
		}
		headers[clean(name)] = checked
	}
	if len(headers) > maxHeaders {
		return fmt.Errorf("more than %d headers", maxHeaders)
	}
	o.Headers = headers
	return nil
}

// token reports whether a text can name a header.
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	})
}

// confineOTLP leaves out a destination of the user's where the policy locks where runs go.
func (p policy) confineOTLP(l *loader) {
	if l.cfg.OTLP.Endpoint == "" || p.locked["endpoint"] == nil && p.locked["replicas"] == nil {
		return
	}
	from := l.cfg.Source("otlp_endpoint")
	if strings.HasPrefix(from, p.path+" [") {
		return
	}
	l.ignore("otlp_endpoint", from, "the policy locks where runs go")
	l.cfg.OTLP = OTLP{}
	l.cfg.source("otlp_endpoint", p.path+" [locked]")
}
