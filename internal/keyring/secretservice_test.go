//go:build linux

package keyring

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
)

// ring is a Secret Service as the specification has it, with one collection that holds
// entries by their attribute "username".
type ring struct {
	conn *dbus.Conn

	mu      sync.Mutex
	entries map[string][]byte
	asked   int // to unlock
}

const (
	ringRoot   = dbus.ObjectPath("/org/freedesktop/secrets")
	ringLogin  = ringRoot + "/collection/login"
	ringPrefix = "org.freedesktop.Secret."
)

// secret is what crosses the bus.
type secret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

func (r *ring) OpenSession(string, dbus.Variant) (dbus.Variant, dbus.ObjectPath, *dbus.Error) {
	return dbus.MakeVariant(""), ringRoot + "/session/1", nil
}

func (r *ring) Unlock(all []dbus.ObjectPath) ([]dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	return all, "/", nil
}

func (r *ring) unlocks() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func (r *ring) SearchItems(wanted map[string]string) ([]dbus.ObjectPath, *dbus.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.entries[wanted["username"]]; !ok || wanted["service"] != service {
		return []dbus.ObjectPath{}, nil
	}
	return []dbus.ObjectPath{ringLogin + "/" + dbus.ObjectPath(wanted["username"])}, nil
}

func (r *ring) CreateItem(about map[string]dbus.Variant, s secret, _ bool) (dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	var attributes map[string]string
	if err := about[ringPrefix+"Item.Attributes"].Store(&attributes); err != nil {
		return "/", "/", dbus.MakeFailedError(err)
	}
	name := attributes["username"]
	path := ringLogin + "/" + dbus.ObjectPath(name)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries[name] = s.Value
	if err := r.conn.Export(&item{r, name}, path, ringPrefix+"Item"); err != nil {
		return "/", "/", dbus.MakeFailedError(err)
	}
	return path, "/", nil
}

type item struct {
	ring *ring
	name string
}

func (i *item) GetSecret(session dbus.ObjectPath) (secret, *dbus.Error) {
	i.ring.mu.Lock()
	defer i.ring.mu.Unlock()
	return secret{Session: session, Value: i.ring.entries[i.name], ContentType: "text/plain"}, nil
}

func (i *item) Delete() (dbus.ObjectPath, *dbus.Error) {
	i.ring.mu.Lock()
	defer i.ring.mu.Unlock()
	delete(i.ring.entries, i.name)
	return "/", nil
}

type session struct{}

func (session) Close() *dbus.Error { return nil }

// bus starts a message bus of the test's own, and says to everybody that it is the one.
func bus(t *testing.T) *dbus.Conn {
	t.Helper()
	program, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skip("NOT TESTED: there is no dbus-daemon to speak to a Secret Service through")
	}
	dir := t.TempDir()
	settings := filepath.Join(dir, "bus.conf")
	if err := os.WriteFile(settings, []byte(`<busconfig><type>session</type><listen>unix:path=`+dir+`/bus</listen>
<policy context="default"><allow send_destination="*"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command(program, "--config-file="+settings, "--nofork", "--print-address")
	out, err := daemon.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(address))
	conn, err := dbus.Connect(strings.TrimSpace(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// serve answers on the bus as a keyring does; lock locks and unlocks it.
func serve(t *testing.T, conn *dbus.Conn) (r *ring, lock func(bool)) {
	t.Helper()
	r = &ring{conn: conn, entries: map[string][]byte{}}
	for path, kind := range map[dbus.ObjectPath]string{ringRoot: "Service", ringLogin: "Collection"} {
		if err := conn.Export(r, path, ringPrefix+kind); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Export(session{}, ringRoot+"/session/1", ringPrefix+"Session"); err != nil {
		t.Fatal(err)
	}
	if _, err := prop.Export(conn, ringRoot, prop.Map{ringPrefix + "Service": {"Collections": {Value: []dbus.ObjectPath{ringLogin}}}}); err != nil {
		t.Fatal(err)
	}
	about, err := prop.Export(conn, ringLogin, prop.Map{ringPrefix + "Collection": {"Locked": {Value: false, Emit: prop.EmitFalse}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := conn.RequestName("org.freedesktop.secrets", dbus.NameFlagDoNotQueue); err != nil || got != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(got, err)
	}
	return r, func(locked bool) { about.SetMust(ringPrefix+"Collection", "Locked", locked) }
}

func TestAKeyIsKeptInTheKeyringAndALockedOneIsLeftAlone(t *testing.T) {
	conn := bus(t)
	if _, err := Get("mine"); !errors.Is(err, ErrAbsent) {
		t.Errorf("without a keyring on the bus: %v", err)
	}
	r, lock := serve(t, conn)
	if _, err := Get("mine"); !errors.Is(err, ErrNone) {
		t.Errorf("before it is stored: %v", err)
	}
	if err := Set("mine", "lsv2_pt_key"); err != nil {
		t.Fatal(err)
	}
	if key, err := Get("mine"); err != nil || key != "lsv2_pt_key" {
		t.Errorf("%q, %v", key, err)
	}
	before := r.unlocks()
	lock(true)
	if _, err := Get("mine"); !errors.Is(err, ErrLocked) {
		t.Errorf("locked: %v", err)
	}
	if r.unlocks() != before {
		t.Error("a drainer asked the user to unlock the keyring")
	}
	lock(false)
	if err := Remove("mine"); err != nil {
		t.Fatal(err)
	}
	if err := Remove("mine"); !errors.Is(err, ErrNone) {
		t.Errorf("removed twice: %v", err)
	}
}

func TestWithoutABusNoneIsStarted(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	if reachable() == nil {
		t.Skip("NOT TESTED: this user has a bus, which must be left alone")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "dbus-launch"), []byte("#!/bin/sh\ntouch "+dir+"/started\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if err := Set("mine", "key"); !errors.Is(err, ErrAbsent) {
		t.Error(err)
	}
	if _, err := Get("mine"); !errors.Is(err, ErrAbsent) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
		t.Error("a message bus was started")
	}
}
