//go:build linux

package road

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/ingest"
	"github.com/tracesmith/tracesmith/runtypes"
)

// with replaces variables of the hooks' environment.
func (j *journey) with(vars ...string) *journey {
	var env []string
	for _, old := range j.drive.Env {
		name, _, _ := strings.Cut(old, "=")
		replaced := false
		for _, v := range vars {
			replaced = replaced || strings.HasPrefix(v, name+"=")
		}
		if !replaced {
			env = append(env, old)
		}
	}
	j.drive.Env = append(env, vars...)
	return j
}

// stopped ends the drainers that the hooks started: what is left is somebody else's.
func (j *journey) stopped() *journey {
	j.run()
	j.stopDrainers()
	return j
}

func (j *journey) stopDrainers() {
	k := &killer{state: j.state, dice: &dice{}}
	k.drainers(0)
	k.wait()
}

// Two shells with keys of different owners share a state directory: neither delivers
// what the other recorded, not even to the same endpoint.
func TestASessionGoesOnlyWhereItsOwnHooksWantedIt(t *testing.T) {
	for name, other := range map[string]string{
		"another endpoint": "LANGSMITH_ENDPOINT=",
		"another key":      "LANGSMITH_API_KEY=another-key",
		"another project":  "LANGSMITH_PROJECT=another",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			down := ingest.Fault{Status: 503, Times: -1}
			j := begin(t, "plain", []ingest.Fault{down}).stopped()
			elsewhere := begin(t, "plain", nil)
			if other == "LANGSMITH_ENDPOINT=" {
				other += elsewhere.server.URL()
			}
			j.server.Script()
			mine := j.drive.Env
			j.with(other).deliver() // a drainer of the other shell
			for server, runs := range map[string][]runtypes.Wire{"ours": j.server.Memory().Runs(), "the other": elsewhere.server.Memory().Runs()} {
				if len(runs) != 0 {
					t.Errorf("%d runs reached %s server through the other shell", len(runs), server)
				}
			}
			j.drive.Env = mine
			want := j.expected()
			j.deliver()
			j.compare(want)
		})
	}
}

func TestAKeyThatWasRefusedHandsItsSessionsToTheNextOne(t *testing.T) {
	j := begin(t, "plain", nil).with("LANGSMITH_API_KEY=revoked").stopped()
	want := j.expected()
	_ = j.drive.Deliver(t.Context()) // 401
	if n := len(j.server.Memory().Runs()); n != 0 {
		t.Fatalf("%d runs arrived with a wrong key", n)
	}
	j.with("LANGSMITH_API_KEY=key").deliver()
	j.compare(want)
}

func TestContentStaysHomeWhateverTheDrainersSettings(t *testing.T) {
	for hooks, drainer := range map[string]string{
		"TRACESMITH_CONTENT=metadata":                           "TRACESMITH_CONTENT=full",
		`TRACESMITH_REDACT_EXTRA=[{"pattern": "SCENARIO"}]`:     `TRACESMITH_REDACT_EXTRA=[{"pattern": "other"}]`,
		`TRACESMITH_REDACT_EXTRA=[{"pattern": "SCENARIO.*"}]`:   "TRACESMITH_REDACT_EXTRA=",
		`TRACESMITH_REDACT_EXTRA=[{"pattern": "(?=only-JS)x"}]`: "TRACESMITH_REDACT_EXTRA=",
		"LANGSMITH_HIDE_INPUTS=true":                            "LANGSMITH_HIDE_INPUTS=false",
	} {
		t.Run(hooks, func(t *testing.T) {
			t.Parallel()
			j := begin(t, "plain", []ingest.Fault{{Status: 503, Times: -1}}).with(hooks).stopped()
			j.server.Script()
			j.with(drainer).deliver()
			runs := j.server.Memory().Runs()
			if len(runs) != 2 {
				t.Fatalf("%d runs, want 2", len(runs))
			}
			for _, run := range runs {
				// The hooks' own drainer may have come first, and sends what its rules leave.
				if strings.Contains(string(run.Inputs), "SCENARIO") || len(run.Outputs) > 0 && strings.HasSuffix(hooks, "metadata") {
					t.Errorf("%s run: inputs %s, outputs %s", run.Kind(), run.Inputs, run.Outputs)
				}
			}
		})
	}
}

func TestWhatTheUserHidesIsHiddenFromLangSmith(t *testing.T) {
	j := begin(t, "plain", nil).with("LANGSMITH_HIDE_OUTPUTS=true", `TRACESMITH_REDACT_EXTRA=[{"pattern": "(?i)[a-z]", "replace": "#"}]`).stopped()
	j.deliver()
	runs := j.server.Memory().Runs()
	if len(runs) != 2 {
		t.Fatalf("%d runs, want 2", len(runs))
	}
	for _, run := range runs {
		if !strings.Contains(string(run.Inputs), "##") || string(run.Outputs) != "{}" {
			t.Errorf("%s run: inputs %s, outputs %s", run.Kind(), run.Inputs, run.Outputs)
		}
	}
}

func TestWhatUploadOffHeldBackArrivesWhenDrainIsCalled(t *testing.T) {
	j := begin(t, "plain", nil).with("TRACESMITH_UPLOAD=off").stopped()
	want := j.expected()
	if n := len(j.server.Memory().Runs()); n != 0 {
		t.Fatalf("%d runs arrived although upload is off", n)
	}
	j.deliver()
	j.compare(want)
}

// Defaults must not stand in for settings that cannot be read: the default endpoint
// is the public one.
func TestSettingsThatCannotBeReadSendNothing(t *testing.T) {
	for name, broken := range map[string]string{
		"endpoint without a scheme": "LANGSMITH_ENDPOINT=localhost:9",
		"unknown upload mode":       "TRACESMITH_UPLOAD=of",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var asked atomic.Int32
			go func() { // whoever asks it wanted to leave the machine
				for {
					conn, err := proxy.Accept()
					if err != nil {
						return
					}
					asked.Add(1)
					_ = conn.Close()
				}
			}()
			defer proxy.Close()
			url := "http://" + proxy.Addr().String()
			j := begin(t, "plain", nil).with(broken, "HTTPS_PROXY="+url, "HTTP_PROXY="+url)
			j.run()
			for len(drainers(j.state)) > 0 { // the store's share is delivered, then it lingers
				if _, err := os.Stat(filepath.Join(j.state, "tracesmith", "v1", "destinations", "store.traces")); err == nil {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			j.stopDrainers()
			if n := asked.Load(); n != 0 || len(j.server.Memory().Runs()) != 0 {
				t.Errorf("%d connections tried to leave the machine", n)
			}
			if err := j.drive.Deliver(t.Context()); err == nil {
				t.Error("drain took settings that cannot be read")
			}
		})
	}
}
