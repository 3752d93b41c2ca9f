package basemodel

import (
	"math/bits"
	"math/rand"
	"testing"
)

// TestMatchContinuesPastDifferences: a match survives some misses, and ends where it has too many.
func TestMatchContinuesPastDifferences(t *testing.T) {
	r := rand.New(rand.NewSource(16))
	genome := randomBases(r, 2000)
	m, l := newModel(10000), lane{match: noMatch}
	for _, b := range genome {
		m.pass(&l, uint32(b))
	}
	at := 500
	step := func(change byte) {
		m.pass(&l, uint32(genome[at]^change))
		at++
	}
	for range 60 {
		step(0)
	}
	if l.at != at || l.step != 1 || l.misses != 0 || l.predicted != uint32(genome[at]) {
		t.Fatalf("match at %d, step %d, with misses %#x, predicts %d; want it at %d without any", l.at, l.step, l.misses, l.predicted, at)
	}
	for i := range 200 {
		change := byte(0)
		if i%10 == 0 {
			change = 1
		}
		step(change)
	}
	if l.at != at {
		t.Fatalf("after a difference in ten bases the match is at %d, want %d", l.at, at)
	}
	if class := l.context(0).set; class != 3 && class != 5 && class != 7 {
		t.Errorf("with 3 or 4 misses the match has class %d", class)
	}
	for range maxMisses + 1 {
		step(2)
	}
	if l.at == at {
		t.Error("the match goes on after 21 misses")
	}
}

// TestMatchOnTheOtherStrand: a match goes back over the bases that occurred, predicts their complements, and ends at the first one.
func TestMatchOnTheOtherStrand(t *testing.T) {
	genome := randomBases(rand.New(rand.NewSource(44)), 2000)
	m, l := newModel(10000), lane{match: noMatch}
	for _, b := range genome {
		m.pass(&l, uint32(b))
	}
	at := 100
	for ; at >= 0; at-- {
		if at < 60 && (l.at != at || l.step != -1 || l.misses != 0 || l.predicted != uint32(3-genome[at])) {
			t.Fatalf("match at %d, step %d, with misses %#x, predicts %d; want it at %d without any", l.at, l.step, l.misses, l.predicted, at)
		}
		m.pass(&l, uint32(3-genome[at]))
	}
	if l.match != noMatch {
		t.Errorf("after the first base there is a match, %+v", l.match)
	}
}

// TestMatchEndsWithTheBases: matches never leave the places that there are, forwards or backwards.
func TestMatchEndsWithTheBases(t *testing.T) {
	for _, size := range []int{10, 32, 33, 40, 77} {
		m, l := newModel(size), lane{match: noMatch}
		for i := range size {
			m.pass(&l, uint32(i>>2&1)) // has matches on one strand only
			if l.step != 0 && (l.at < 0 || l.at >= size) {
				t.Fatalf("%d places: a match at %d", size, l.at)
			}
		}
		m, l = newModel(size), lane{match: noMatch}
		for i := range size {
			m.pass(&l, uint32(i&1*3)) // on both
			if l.step != 0 && (l.at < 0 || l.at >= size) {
				t.Fatalf("%d places: a match at %d", size, l.at)
			}
		}
	}
}

// TestMatchContexts: more misses and more recent ones make another class, and all parts of a context are in their ranges.
func TestMatchContexts(t *testing.T) {
	for _, c := range []struct {
		misses       uint64 // bit 31-i: the base i ago
		class, group uint32
	}{
		{0, 1, 14}, {1 << 31, 3, 0}, {1 << 30, 3, 1}, {1 << 15, 2, 10}, {1<<15 | 1<<14, 2, 10}, {1<<31 | 1, 3, 0}, {7 << 29, 5, 0},
		{0x3ff << 22, 6, 0}, {0x3ff << 13, 4, 7}, {7 << 13, 3, 10}, {7 << 21, 7, 7},
	} {
		m := match{predicted: 2}
		for i := range 32 {
			m.misses |= c.misses >> i & 1 << (2 * i)
		}
		misses := uint32(min(bits.OnesCount64(c.misses), 15))
		want := matchNode{4 + 4*(c.group<<4|misses) + m.predicted, (4*c.class-3+m.predicted)<<4 | 9, c.class}
		if got := m.context(0x579); got != want {
			t.Errorf("misses %032b: context %+v, want %+v", c.misses, got, want)
		}
	}
	for i, c := range matchContexts {
		want := uint32(0)
		if n := i % 33; n <= maxMisses {
			if c.match += 3; c.match >= matchNodes || c.match < 4 {
				t.Fatalf("node %d is out of range", c.match)
			}
			if c.joint += 3<<4 + 15; c.joint >= jointNodes || c.joint < 16 || c.set == 0 || c.set >= weightSets {
				t.Fatalf("context %+v is out of range", c)
			}
		} else if c.match+4 != want || c.joint+4<<4 != want || c.set != want {
			t.Fatalf("the context without a match is %+v", c)
		}
	}
	if got, want := noMatch.context(0x57b), (matchNode{0, 11, 0}); got != want {
		t.Errorf("without a match the context is %+v, want %+v", got, want)
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
