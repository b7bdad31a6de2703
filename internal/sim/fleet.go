package main

import (
	"math"
	"math/rand/v2"
	"time"
)

// What a turn is in the model: three times what the recordings come to that the repository
// holds (see package cost), for those are made-up work of a step or two.
const (
	turnEvents = 16
	turnBytes  = 64 << 10
	turnTime   = 2 * time.Minute
	turnSteps  = 4 // hooks of a turn that wake a drainer

	lateness = 15 * time.Minute // a turn that took longer is late
)

// The day: people work from the opening to the close, and it is watched for longer.
const (
	opening = 9 * time.Hour
	closing = 18 * time.Hour
	evening = 20 * time.Hour
)

// fleet is machines that share a key.
type fleet struct {
	clock    clock
	server   server
	machines []*machine
	random   *rand.Rand // of what happens to the fleet
	luck     *rand.Rand // of what the policy does about it
	jitter   bool
	settled  bool

	backlog, worst int // events that wait, and the most of them
	times          []time.Duration
}

// newFleet makes machines whose owners differ: a few work far more than most.
func newFleet(sc scenario, machines int, seed uint64) *fleet {
	f := &fleet{
		random: rand.New(rand.NewPCG(seed, 1)), luck: rand.New(rand.NewPCG(seed, 2)),
		jitter: !sc.together, settled: sc.settled,
	}
	share := float64(machines) / 10_000
	f.server = server{
		plan:     plan{int(share * float64(largest.events)), int64(share * float64(largest.bytes))},
		scale:    share,
		downFrom: sc.downFrom, downUntil: sc.downUntil,
	}
	const spread = 0.6
	for range machines {
		rate := sc.rate * math.Exp(spread*f.random.NormFloat64()-spread*spread/2)
		f.machines = append(f.machines, &machine{fleet: f, rate: rate})
	}
	if sc.wild > 0 {
		wild := f.machines[0]
		wild.wild, wild.rate = true, sc.wild*float64(machines)
	}
	for _, m := range f.machines {
		first := opening + f.gap(m)
		if sc.rush > 0 {
			first = opening + time.Duration(f.random.Float64()*float64(sc.rush))
		}
		f.clock.at(first, func() { f.turn(m) })
	}
	return f
}

// dice is the policy's. Without jitter everybody throws the same.
func (f *fleet) dice() float64 {
	if !f.jitter {
		return 0.5
	}
	return f.luck.Float64()
}

// gap is the time until a machine's next turn.
func (f *fleet) gap(m *machine) time.Duration {
	return time.Duration(f.random.ExpFloat64() / m.rate * float64(time.Hour))
}

// latency of a request: 150 ms, and a tail.
func (f *fleet) latency() time.Duration {
	return time.Duration(150 * math.Exp(0.5*f.luck.NormFloat64()) * float64(time.Millisecond))
}

// turn plays one turn and plans the next. A machine that has little time between two
// has several agents at work.
func (f *fleet) turn(m *machine) {
	size := math.Exp(0.8*f.random.NormFloat64() - 0.32) // most turns are small, few are large
	length := time.Duration(size * float64(turnTime))
	events, bytes := max(turnSteps, int(size*turnEvents)), int64(size*turnBytes)
	if f.settled {
		events = max(turnSteps, events/2)
	}
	for i := range turnSteps {
		s := step{
			events: events*(i+1)/turnSteps - events*i/turnSteps,
			bytes:  bytes / turnSteps, ends: i == turnSteps-1,
		}
		f.clock.at(f.clock.now+length*time.Duration(i)/(turnSteps-1), func() { f.record(m, s) })
	}
	if next := f.clock.now + f.gap(m); next < closing {
		f.clock.at(next, func() { f.turn(m) })
	}
}

// record is a hook: a line in the journal, then a drainer is woken.
func (f *fleet) record(m *machine, s step) {
	s.made = f.clock.now
	m.waiting = append(m.waiting, s)
	f.backlog += s.events
	f.worst = max(f.worst, f.backlog)
	if s.ends {
		m.made++
	}
	m.wake()
}

func (f *fleet) delivered(m *machine, took time.Duration) {
	if m.wild {
		return
	}
	f.times = append(f.times, took)
	if took > lateness {
		m.late++
	}
}
