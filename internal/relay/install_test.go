package relay

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tracesmith/tracesmith/internal/ingest"
)

// What install has written is found again, whichever system it was for.
func TestWhatInstallWroteIsReadBack(t *testing.T) {
	const address, state = "127.0.0.57:1985", "/home/dev/a --listen b"
	for _, system := range []string{"linux", "darwin"} {
		file, err := UserService(system, state, address).Setup.Add(nil, nil, `["/usr/bin/tracesmith"]`)
		if err != nil {
			t.Fatal(err)
		}
		if got := ServiceAddress(file); got != address {
			t.Errorf("%s: %q", system, got)
		}
	}
	file, err := Variables("http://"+address, "key").Setup.Add([]byte("LANGSMITH_ENDPOINT=http://elsewhere\n"), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if url, token := Told(file); url != "http://"+address || token != "key" {
		t.Errorf("%q %q", url, token)
	}
	for _, foreign := range []string{"", "ExecStart=other --listen 127.0.0.1:1\n", blockStart + "\nLANGSMITH_ENDPOINT=cut"} {
		url, token := Told([]byte(foreign))
		if address := ServiceAddress([]byte(foreign)); url+token+address != "" {
			t.Errorf("%q tells %q %q %q", foreign, url, token, address)
		}
	}
}

func TestARelayAtWorkIsSeen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if Running(dir) || !LastTurn(dir).IsZero() {
		t.Error("seen where none ever was")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("looking left something behind")
	}
	b := newBench(t, ingest.Config{}).start()
	if !Running(b.dir) || !LastTurn(b.dir).IsZero() {
		t.Error("not seen at work, or with a turn that never came")
	}
	s := newStory("thread", "turn", 1)
	b.post(begin(s.run(nil, "agent", "chain", nil)))
	if LastTurn(b.dir).IsZero() {
		t.Error("its turn is not seen")
	}
	b.stop()
	if Running(b.dir) {
		t.Error("seen when it had ended")
	}
}
