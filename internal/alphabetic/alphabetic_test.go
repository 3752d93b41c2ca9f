package alphabetic

import (
	"math/rand"
	"testing"
)

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

func TestLengths(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	for range 300 {
		weight := make([]uint64, 1+r.Intn(9))
		for i := range weight {
			weight[i] = uint64(1 + r.Intn(1<<r.Intn(12)))
		}
		lengths := make([]int, len(weight))
		Lengths(weight, lengths)
		cost := uint64(0)
		for i, l := range lengths {
			cost += weight[i] * uint64(l)
		}
		if least := leastCost(weight); cost != least {
			t.Fatalf("%v: lengths %v cost %d, not %d", weight, lengths, cost, least)
		}
		// The codes are the whole numbers from 0 on, each of its depth, without gaps.
		end := uint64(0)
		for i, code := range Codes(lengths) {
			if begin := uint64(code) << (32 - lengths[i]); begin != end {
				t.Fatalf("%v: code %b of %d bits does not follow the one before", weight, code, lengths[i])
			}
			end += 1 << (32 - lengths[i])
		}
		if end != 1<<32 {
			t.Fatalf("%v: the codes end at %x", weight, end)
		}
	}
}
