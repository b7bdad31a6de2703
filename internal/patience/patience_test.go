package patience

import (
	"testing"
	"time"
)

const longest = 15 * time.Minute

func always(x float64) Dice { return func() float64 { return x } }

func TestPausesDoubleUpToTheLongestOfTheirCause(t *testing.T) {
	check := func(limited bool, most time.Duration) {
		tries := NewTries(always(0.5)) // the mean
		want := FirstPause
		for i := range 12 {
			if got := tries.Pause(limited, 0); got != min(want, most) {
				t.Errorf("limited %v: pause %d is %v, want %v", limited, i, got, min(want, most))
			}
			want = min(2*want, LongestPause)
		}
	}
	check(true, LongestPause)
	check(false, OutagePause)
}

func TestDiceMoveAPauseByHalfOfIt(t *testing.T) {
	if got := NewTries(always(0)).Pause(true, 0); got != FirstPause/2 {
		t.Errorf("shortest %v", got)
	}
	if got := NewTries(always(0.999999)).Pause(true, 0); got >= FirstPause*3/2 || got < FirstPause*3/2-time.Millisecond {
		t.Errorf("longest %v", got)
	}
}

func TestWhatTheServerAsksForIsAFloor(t *testing.T) {
	if got := NewTries(always(0)).Pause(false, time.Hour); got != time.Hour {
		t.Errorf("pause %v", got)
	}
	if got := Rest(1, true, longest, 10*time.Minute, always(0)); got != 10*time.Minute {
		t.Errorf("rest %v", got)
	}
	if got := Rest(1, true, longest, time.Hour, always(0)); got != longest {
		t.Errorf("rest %v is longer than any may be", got)
	}
}

func TestRestsDoubleAndBeginWithAMinuteWhereALimitWasMet(t *testing.T) {
	check := func(failures int, limited bool, most time.Duration) {
		t.Helper()
		if got := Rest(failures, limited, longest, 0, always(0)); got != most/2 {
			t.Errorf("%d failures, limited %v: at least %v, want %v", failures, limited, got, most/2)
		}
		if got := Rest(failures, limited, longest, 0, always(0.999999)); got >= most || got < most-time.Second {
			t.Errorf("%d failures, limited %v: at most %v, want %v", failures, limited, got, most)
		}
	}
	check(0, false, FirstRest)
	check(1, false, FirstRest)
	check(3, false, 4*FirstRest)
	check(11, false, longest)
	check(500, false, longest)
	check(1, true, time.Minute)
	check(2, true, 2*time.Minute)
	check(5, true, longest)
	check(64, true, longest)
}

func TestWhoHasMetALimitGoesSlowlyForAnHour(t *testing.T) {
	check := func(since, want time.Duration) {
		if got := Slowly(since, always(0)); got != want {
			t.Errorf("%v after a limit: %v, want %v", since, got, want)
		}
	}
	check(0, 30*time.Second)
	check(time.Hour-1, 30*time.Second)
	check(time.Hour, 0)
	check(-time.Second, 0) // the clock was set back
}
