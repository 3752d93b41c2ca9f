package bwt

import (
	"math/rand"
	"testing"
)

// TestCover: any two residues have a distance after which both are in the cover.
func TestCover(t *testing.T) {
	for i := range coverSize {
		for j := range coverSize {
			d := int(coverDelta[i][j])
			if coverBits>>((i+d)%coverSize)&1 == 0 || coverBits>>((j+d)%coverSize)&1 == 0 {
				t.Fatalf("%d and %d: not %d", i, j, d)
			}
		}
	}
}

// leastCost is the least sum of weight times depth, by trying all trees.
func leastCost(weight []uint64) uint64 {
	if len(weight) == 1 {
		return 0
	}
	best, sum := ^uint64(0), uint64(0)
	for i, w := range weight {
		sum += w
		if i > 0 {
			best = min(best, leastCost(weight[:i])+leastCost(weight[i:]))
		}
	}
	return best + sum
}

func TestAlphabeticLengths(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	for range 300 {
		weight := make([]uint64, 1+r.Intn(9))
		for i := range weight {
			weight[i] = uint64(1 + r.Intn(1<<r.Intn(12)))
		}
		lengths := make([]int, len(weight))
		alphabeticLengths(weight, lengths)
		cost := uint64(0)
		for i, l := range lengths {
			cost += weight[i] * uint64(l)
		}
		if least := leastCost(weight); cost != least {
			t.Fatalf("%v: lengths %v cost %d, not %d", weight, lengths, cost, least)
		}
	}
}

// TestPlaces: the number of a symbol and its bit follow from one another.
func TestPlaces(t *testing.T) {
	text := texts(30000)["mixed"]
	c := newCodedText(new(Transformer), text, 3)
	if c.codes == nil {
		t.Fatal("codes of one length")
	}
	s := newSorter(new(Transformer), c, 1, 0, nil)
	at, before := uint64(0), c.number[text[len(text)-1]]
	for i, b := range text {
		if got := s.firstBit(i); got != at || c.symbolAt(at) != uint64(i) {
			t.Fatalf("symbol %d begins at bit %d: got %d, and symbol %d there", i, at, got, c.symbolAt(at))
		}
		n := c.number[b]
		at += uint64(c.codes[int(before)*c.size+int(n)].length)
		before = n
	}
	if at != c.total {
		t.Fatalf("%d bits, not %d", c.total, at)
	}
}
