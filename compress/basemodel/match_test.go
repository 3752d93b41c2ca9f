package basemodel

import (
	"math/rand"
	"testing"
)

// match is that of one lane.
type match struct {
	at, direction                  int
	predicted, misses, missed, run uint32
}

var noMatch = match{predicted: 4, misses: allMissed, missed: registerBases}

func (m *Model) matchOfLane() match {
	return match{int(m.source[0]), int(int32(m.direction[0])), m.predicted[0], m.misses[0], m.missed[0], m.run[0]}
}

// passing returns a model of n bases that have not been passed.
func passing(n int) *Model {
	m := newModel(n)
	m.startLane(0, 0)
	m.prepare(0)
	m.active[0] = 1<<32 - 1
	return m
}

// passBase passes a base of lane 0.
func (m *Model) passBase(b byte) {
	m.bases[0] = uint16(b)
	m.passStep()
}

// TestMatchContinuesPastDifferences: a match survives some misses, and ends where it has too many.
func TestMatchContinuesPastDifferences(t *testing.T) {
	r := rand.New(rand.NewSource(16))
	genome := randomBases(r, 2000)
	m := passing(10000)
	for _, b := range genome {
		m.passBase(b)
	}
	at := 500
	step := func(change byte) {
		m.passBase(genome[at] ^ change)
		at++
	}
	for range 60 {
		step(0)
	}
	if got, want := m.matchOfLane(), (match{at, 1, uint32(genome[at]), 0, 0, registerBases}); got != want {
		t.Fatalf("match %+v, want %+v", got, want)
	}
	for i := range 200 {
		change := byte(0)
		if i%10 == 0 {
			change = 1
		}
		step(change)
	}
	if m.matchOfLane().at != at {
		t.Fatalf("after a difference in ten bases the match is %+v, want it at %d", m.matchOfLane(), at)
	}
	if class := m.set[0]; class != 3 && class != 5 && class != 7 {
		t.Errorf("with 3 or 4 misses the match has class %d", class)
	}
	for range maxMisses + 1 {
		step(2)
	}
	if m.matchOfLane().at == at {
		t.Error("the match goes on after 21 misses")
	}
}

// TestMatchOnTheOtherStrand: a match goes back over the bases that occurred, predicts their complements, and ends at the first one.
func TestMatchOnTheOtherStrand(t *testing.T) {
	genome := randomBases(rand.New(rand.NewSource(44)), 2000)
	m := passing(10000)
	for _, b := range genome {
		m.passBase(b)
	}
	at := 100
	for ; at >= 0; at-- {
		if got, want := m.matchOfLane(), (match{at, -1, uint32(3 - genome[at]), 0, 0, registerBases}); at < 60 && got != want {
			t.Fatalf("match %+v, want %+v", got, want)
		}
		m.passBase(3 - genome[at])
	}
	if got := m.matchOfLane(); got != noMatch {
		t.Errorf("after the first base there is a match, %+v", got)
	}
}

// TestMatchEndsWithTheBases: matches never leave the places that there are, forwards or backwards.
func TestMatchEndsWithTheBases(t *testing.T) {
	for _, size := range []int{10, 32, 33, 40, 77} {
		m := passing(size)
		for i := range size {
			m.passBase(byte(i >> 2 & 1)) // has matches on one strand only
			if m.direction[0] != 0 && int(m.source[0]) >= size {
				t.Fatalf("%d places: a match at %d", size, m.source[0])
			}
		}
		m = passing(size)
		for i := range size {
			m.passBase(byte(i & 1 * 3)) // on both
			if m.direction[0] != 0 && int(m.source[0]) >= size {
				t.Fatalf("%d places: a match at %d", size, m.source[0])
			}
		}
	}
}

// TestStateOf: more misses and more recent ones make another class, and all states are in their ranges.
func TestStateOf(t *testing.T) {
	for _, c := range []struct{ run, missed, class, group uint32 }{
		{32, 0, 1, 14}, {0, 1, 3, 0}, {1, 1, 3, 1}, {16, 1, 2, 10}, {16, 2, 2, 10}, {0, 2, 3, 0}, {0, 3, 5, 0}, {0, 10, 6, 0}, {9, 10, 4, 7},
		{16, 3, 3, 10}, {8, 3, 7, 7}, {6, 9, 6, 6}, {11, 8, 7, 8}, {12, 9, 4, 9}, {15, 1, 3, 9}, {31, 1, 2, 13}, {16, 9, 4, 10},
	} {
		if got, want := stateOf(c.run, c.missed), (matchState{c.class, 1 + c.group<<4 + min(c.missed, 15)}); got != want {
			t.Errorf("%d bases since %d misses: %+v, want %+v", c.run, c.missed, got, want)
		}
	}
	for run := range uint32(33) {
		for missed := range uint32(maxMisses + 1) {
			s := stateOf(run, missed)
			if s.state == 0 || 4*s.state+3 >= matchNodes || s.class == 0 || s.class >= matchClasses || (4*s.class-3+3)<<4+15 >= jointNodes {
				t.Fatalf("%d bases since %d misses: %+v is out of range", run, missed, s)
			}
		}
	}
}

// TestGrownTableFindsAll: the larger table of a clone has the k-mers of all bases so far.
func TestGrownTableFindsAll(t *testing.T) {
	genome := randomBases(rand.New(rand.NewSource(8)), 1000)
	m := modelOf(genome)
	for _, again := range [][]byte{genome[100:400], reverseComplement(genome[500:900])} {
		if data := m.Clone(8000).Append(nil, &Literals{Bases: again}); len(data)*8 > len(again)*3/4 {
			t.Errorf("%d bytes for %d bases that occurred before", len(data), len(again))
		}
	}
}
