package keyring

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestACallThatHangsOrCrashesIsAnErrorOfOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		if _, err := within(time.Minute, func() (string, error) { <-release; return "", nil }); !errors.Is(err, errSlow) {
			t.Error(err)
		}
		close(release)
	})
	if _, err := within(time.Minute, func() (string, error) { panic("hush") }); err == nil || strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
}
