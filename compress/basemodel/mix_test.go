package basemodel

import (
	"math/rand"
	"testing"

	"orcomgo/compress/rangecoder"
)

// TestVectorsEqualPlain: the vector instructions predict and learn as plain Go does, base by base and many at once, for weights of any
// size.
func TestVectorsEqualPlain(t *testing.T) {
	var plain, single, many mixer
	all := []*mixer{&plain, &single, &many}
	for _, x := range all {
		x.init()
		x.weights = append(x.weights, x.weights...)
	}
	r := rand.New(rand.NewSource(3))
	random := func(bits int) uint64 { return r.Uint64() >> (64 - r.Intn(bits+1)) }
	const n = 100
	bases, contexts := make([]byte, n+basesAhead), make([]uint32, n)
	var want, got [2 * n]rangecoder.Decision
	for round := range 300 {
		for i := range contexts {
			bases[i] = byte(random(2))
			contexts[i] = uint32(r.Intn(matchNodes))<<matchShift | uint32(r.Intn(jointNodes))<<jointShift | uint32(random(4))
		}
		h, last := random(64), random(64)
		plain.encodePlain(h, last, bases[:n], contexts, want[:])
		if many.encodeSome(h, last, bases[:n], contexts, got[:]); got != want {
			t.Fatalf("round %d: other decisions are encoded than in plain Go", round)
		}
		slot, word := uint32(0), uint64(0)
		for i, b := range bases[:n] {
			single.predict(h, contexts[i], &slot, &word)
			if hi := b >> 1; single.p[0] != uint32(want[2*i]>>1) || single.p[1+hi] != uint32(want[2*i+1]>>1) {
				t.Fatalf("round %d: base %d is predicted as %v, in plain Go as %d and %d", round, i, single.p, want[2*i]>>1, want[2*i+1]>>1)
			}
			single.learn(h, last, contexts[i], uint32(b))
			h, last = shiftIn(h, last, b)
		}
		// Weights far beyond those that are learnt.
		value := int32(r.Uint32()) >> r.Intn(20)
		set, d := r.Intn(len(plain.weights)), r.Intn(3)
		for _, x := range all {
			for i := range x.weights[set][d] {
				x.weights[set][d][i] = value
			}
		}
	}
	for i, want := range plain.nodes {
		if single.nodes[i] != want || many.nodes[i] != want {
			t.Fatalf("node %d is %v and %v, in plain Go %v", i, single.nodes[i], many.nodes[i], want)
		}
	}
}
