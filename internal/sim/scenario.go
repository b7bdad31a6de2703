package main

import "time"

// usual is how many turns a developer takes in an hour: with the turns of the model
// two thirds of what the largest plan lets 10,000 do.
const usual = 2.0

// scenario is a day and what is special about it.
type scenario struct {
	name string
	rate float64 // turns an hour of a machine
	// rush is how long after the opening everybody has begun; 0: as their work has it.
	rush time.Duration
	// downFrom and downUntil bound an outage.
	downFrom, downUntil time.Duration
	// wild is how many turns an hour one machine takes, in parts of the fleet's size.
	wild     float64
	together bool // no jitter
	settled  bool // a run is written once, when it has ended
}

// half is the work of one and a half times what the plan takes.
const half = 1.5 * 500_000 / 10_000 / turnEvents

func scenarios() []scenario {
	rush := scenario{name: "all begin at 9:00, within 5 s", rate: usual, rush: 5 * time.Second}
	outage := scenario{name: "outage from 11:00 to 13:00", rate: usual, downFrom: 11 * time.Hour, downUntil: 13 * time.Hour}
	beyond := scenario{name: "half more work than the plan takes", rate: half}
	settled := beyond
	settled.name, settled.settled = "the same work, live = false", true
	return []scenario{
		{name: "a usual day", rate: usual},
		{name: "all begin at 9:00, within a minute", rate: usual, rush: time.Minute},
		rush, without(rush),
		outage, without(outage),
		{name: "one machine gone wild", rate: usual, wild: 4},
		beyond, without(beyond),
		settled,
	}
}

func without(sc scenario) scenario {
	sc.name += ", no jitter"
	sc.together = true
	return sc
}
