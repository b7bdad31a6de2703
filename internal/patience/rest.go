package patience

import "time"

// Bounds of leaving a destination alone, between the lives of drainers.
const (
	FirstRest   = time.Second
	LimitedRest = time.Minute // where a limit was met: no request will do sooner
	slowly      = time.Hour   // the longest window of a limit but for a month's
)

// Rest is how long the processes of one machine leave a destination alone after so many
// failures in a row: up to twice as long each time, at most longest. limited says that the
// last one was a limit of the rate, after what the server asked for. The dice take up to
// half of it away, so that machines do not come back together.
func Rest(failures int, limited bool, longest, after time.Duration, dice Dice) time.Duration {
	first, rest := FirstRest, longest
	if limited {
		first = LimitedRest
	}
	if shift := failures - 1; shift < 10 {
		rest = min(rest, first<<max(shift, 0))
	}
	return max(jittered(rest, dice), min(after, longest))
}

// Slowly is how long a machine leaves a destination alone after an export that arrived,
// if it has met a limit so long before. The limit is that of a key, which others share:
// a machine with much to send would otherwise take all of it again and again, before
// those with little have come back.
func Slowly(since time.Duration, dice Dice) time.Duration {
	if since < 0 || since >= slowly {
		return 0
	}
	return jittered(LimitedRest, dice)
}

func jittered(rest time.Duration, dice Dice) time.Duration {
	return rest/2 + time.Duration(dice()*float64(rest/2))
}
