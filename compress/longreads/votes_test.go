package longreads

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestVotesOfGenome: where few reads differ from a sequence, the votes have memory for the ranges with differences only.
func TestVotesOfGenome(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	genome := drawBases(r, 40<<rangeBits)
	s := NewSequence(packed(genome).Bases, len(genome), 2)
	from, to := 5<<rangeBits+100, 35<<rangeBits+7 // as for one of several windows
	v := newVotes(s, from, to, 2)
	read := slices.Clone(genome[18<<rangeBits-2000 : 18<<rangeBits+2000])
	for _, i := range []int{1000, 3000} { // in the 17th and the 18th range
		read[i] ^= 1
	}
	v.add([]Read{packed(genome[from:to]), packed(read)}, func(int) {})
	v.sum()
	places := []int{18<<rangeBits - 1000, 18<<rangeBits + 1000}
	for place := from; place < to; place++ {
		want := [4]uint8{}
		if slices.Contains(places, place) {
			want[genome[place]^1] = 1
		}
		if got := v.other.of(place); got != want {
			t.Fatalf("base %d: %v, expected %v", place, got, want)
		}
	}
	for name, c := range map[string]counters{"substitutions": v.other, "insertions": v.inserted} {
		made := 0
		for _, r := range c.ranges {
			if r != nil {
				made++
			}
		}
		if want := map[string]int{"substitutions": 2}[name]; made != want {
			t.Errorf("%s: memory for %d ranges, expected %d", name, made, want)
		}
	}
}
