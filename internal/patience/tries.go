package patience

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Bounds of the pauses between the attempts of one request, before jitter.
const (
	FirstPause   = 500 * time.Millisecond
	LongestPause = time.Minute      // LangSmith's rate windows are ten seconds to a minute
	OutagePause  = 15 * time.Second // an end of an outage should be noticed
)

// Dice draws a number from 0 to below 1, such as rand.Float64.
type Dice func() float64

// Tries are the attempts of one request.
type Tries struct {
	steps *backoff.ExponentialBackOff
	dice  Dice
}

// NewTries starts with the first pause.
func NewTries(dice Dice) *Tries {
	return &Tries{dice: dice, steps: backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(FirstPause),
		backoff.WithMultiplier(2),
		backoff.WithRandomizationFactor(0), // the dice are the caller's
		backoff.WithMaxInterval(LongestPause),
		backoff.WithMaxElapsedTime(0))} // the deadline is the caller's: Retry-After counts too
}

// Pause is how long to wait before the next attempt: twice as long each time, half as
// much more or less by the dice, and never below what the server asked for. limited says
// that the server refused because of the rate of requests.
func (t *Tries) Pause(limited bool, floor time.Duration) time.Duration {
	mean := t.steps.NextBackOff()
	pause := mean/2 + time.Duration(t.dice()*float64(mean))
	if !limited {
		pause = min(pause, OutagePause)
	}
	return max(pause, floor)
}
