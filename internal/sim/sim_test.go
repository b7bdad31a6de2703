package main

import (
	"bytes"
	"testing"
	"time"
)

const few = 200 // machines, and limits that shrink with them

func table(t *testing.T, seed uint64) string {
	t.Helper()
	var list []outcome
	for _, sc := range scenarios()[:3] {
		list = append(list, play(sc, few, seed))
	}
	var text bytes.Buffer
	if err := write(&text, list); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestTheSameSeedGivesTheSameTable(t *testing.T) {
	once := table(t, 7)
	if again := table(t, 7); again != once {
		t.Errorf("once\n%s\nand then\n%s", once, again)
	}
	if other := table(t, 8); other == once {
		t.Error("another seed gives the same table")
	}
}

func TestAUsualDayArrivesWithinSeconds(t *testing.T) {
	o := play(scenario{rate: usual}, few, 1)
	if o.left != 0 || o.most > 10*time.Second || o.limited+o.down != 0 || o.fairness != 1 || o.turns < few*9 {
		t.Errorf("%+v", o)
	}
}

func TestNothingIsLostInAnOutageAndNoHerdReturnsFromIt(t *testing.T) {
	o := play(scenario{rate: usual, downFrom: 11 * time.Hour, downUntil: 13 * time.Hour}, few, 1)
	if o.down == 0 || o.most < time.Hour {
		t.Errorf("there was no outage: %+v", o)
	}
	if o.p50 > time.Second || o.left > o.turns/100 {
		t.Errorf("the day does not recover: %+v", o)
	}
	if limit := requestLimit * few / 10_000; o.busiest > limit {
		t.Errorf("%d requests in ten seconds, and the limit is %d", o.busiest, limit)
	}
}

func TestOneMachineGoneWildDoesNotTakeTheDayFromTheOthers(t *testing.T) {
	const many = 1000 // of fewer it would be too large a part
	o := play(scenario{rate: usual, wild: 2}, many, 1)
	if o.limited == 0 {
		t.Errorf("no limit was met: %+v", o)
	}
	if o.fairness < 0.85 || o.left > o.turns/5 || o.p50 > time.Minute {
		t.Errorf("the others suffer: %+v", o)
	}
}

func TestTheServerCountsByTheHourAndTheTenSeconds(t *testing.T) {
	s := server{plan: plan{events: 100, bytes: 1000}, scale: 3.0 / requestLimit}
	check := func(now time.Duration, events int, bytes int64, want answer) {
		t.Helper()
		if got := s.take(now, events, bytes); got != want {
			t.Errorf("at %v %d events of %d bytes: %v, want %v", now, events, bytes, got, want)
		}
	}
	check(0, 60, 100, accepted)
	check(0, 41, 100, limited) // events
	check(0, 40, 901, limited) // bytes
	check(0, 1, 1, limited)    // requests
	check(10*time.Second, 40, 900, accepted)
	check(20*time.Second, 1, 1, limited)
	check(time.Hour, 100, 1000, accepted)
	s.downFrom, s.downUntil = 2*time.Hour, 3*time.Hour
	check(3*time.Hour-1, 1, 1, down)
	check(3*time.Hour, 1, 1, accepted)
}
