package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tracesmith/tracesmith/internal/ingest"
)

func TestDoctorSendsATestRunByTheSettings(t *testing.T) {
	const key = "lsv2_pt_0123456789abcdef"
	smith, err := ingest.Start(ingest.Config{Key: key}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = smith.Close(ctx)
	}()
	d := newDesk(t)
	doctor := func(args ...string) int {
		t.Helper()
		d.out.Reset()
		return d.execute(t.Context(), d.root(), append([]string{"doctor"}, args...))
	}
	d.env["LANGSMITH_ENDPOINT"], d.env["CC_LANGSMITH_API_KEY"] = smith.URL(), key
	if code := doctor(); code != exitError || strings.Contains(d.out.String(), key) {
		t.Errorf("exit %d without hooks: %s", code, d.out.String())
	}
	runs := smith.Memory().Runs()
	if len(runs) != 1 || !strings.Contains(d.out.String(), runs[0].ID) || !strings.Contains(d.out.String(), "****cdef is accepted (from CC_LANGSMITH_API_KEY)") {
		t.Errorf("%d runs arrived: %s", len(runs), d.out.String())
	}
	if doctor("--no-send"); len(smith.Memory().Runs()) != 1 || !strings.Contains(d.out.String(), "reached") {
		t.Errorf("a run was sent: %s", d.out.String())
	}
	if doctor("--offline"); strings.Contains(d.out.String(), "reached") {
		t.Errorf("the network was asked: %s", d.out.String())
	}
	d.env["CC_LANGSMITH_API_KEY"] = "lsv2_pt_another_key_0000"
	if code := doctor(); code != exitError || !strings.Contains(d.out.String(), "PROBLEM  key: 401: the key ****0000 is not accepted") {
		t.Errorf("exit %d: %s", code, d.out.String())
	}
	d.env["LANGSMITH_ENDPOINT"] = "smith.example"
	if code := doctor(); code != exitError || !strings.Contains(d.out.String(), "PROBLEM  settings: ") || strings.Contains(d.out.String(), "PROBLEM  network") {
		t.Errorf("exit %d with an endpoint that is none: %s", code, d.out.String())
	}
}
