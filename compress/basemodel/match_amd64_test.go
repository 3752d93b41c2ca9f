package basemodel

import (
	"math/rand"
	"slices"
	"testing"

	"orcomgo/compress/ans"
	"orcomgo/internal/testrun"
)

// TestPassAsPlain: the vector instructions move lanes past bases as plain Go does, with any active lanes, and matches of both strands that
// begin, go on, and end.
func TestPassAsPlain(t *testing.T) {
	if !ans.HasVectors {
		t.Skip("the processor does not have the instructions")
	}
	testrun.NoRace(t)
	r := rand.New(rand.NewSource(61))
	const most = 600               // bases of a lane
	changes := make(map[int32]int) // of matches, by what they are then
	for turn := range testrun.Pick(4, 20, 200) {
		source := repetitive(int64(turn), 3000)
		plain, vector := newModel(numLanes*most), newModel(numLanes*most)
		if turn%2 > 0 { // which is memory that no match comes to
			plain.size, vector.size = 1<<31+100, 1<<31+100
		}
		var from [numLanes]int // in the source, of the next base
		for l := range numLanes {
			plain.startLane(l, l*most)
			plain.prepare(l)
			plain.active[l] = 1<<32 - 1
		}
		vector.step = plain.step
		for i := range most {
			for l := range numLanes {
				if r.Intn(100) == 0 {
					from[l] = r.Intn(len(source))
				}
				b := source[from[l]]
				if r.Intn(30) == 0 {
					b ^= byte(r.Intn(4))
				}
				if l&1 == 1 && plain.predicted[l] < 4 && r.Intn(8) > 0 {
					b = byte(plain.predicted[l]) // so matches go to the ends of the bases
				}
				from[l] = (from[l] + 1 - l&2 + len(source)) % len(source)
				if l&2 != 0 {
					b = 3 - b
				}
				plain.bases[l], vector.bases[l] = uint16(b), uint16(b)
			}
			if r.Intn(50) == 0 {
				plain.active[r.Intn(numLanes)] ^= 1<<32 - 1
				vector.active = plain.active
			}
			before := plain.direction
			plain.passPlain()
			vector.passStep()
			for l, active := range plain.active {
				if active == 0 { // it may hold anything
					vector.copyLane(&plain.step, l)
				} else if before[l] != plain.direction[l] {
					changes[int32(plain.direction[l])]++
				}
			}
			vector.sixteen = plain.sixteen
			if vector.step != plain.step {
				t.Fatalf("turn %d, base %d: the lanes are\n%+v, want\n%+v", turn, i, vector.matches, plain.matches)
			}
		}
		if !slices.Equal(vector.slots, plain.slots) || !slices.Equal(vector.hist.words, plain.hist.words) {
			t.Fatalf("turn %d: other k-mers or bases", turn)
		}
	}
	if changes[1] < 50 || changes[-1] < 50 || changes[0] < 50 {
		t.Errorf("%d matches begin, %d on the other strand, and %d end: want more", changes[1], changes[-1], changes[0])
	}
}

// copyLane makes lane l that of another step.
func (x *step) copyLane(from *step, l int) {
	for _, a := range [][2]*[numLanes]uint32{
		{&x.place, &from.place}, {&x.source, &from.source}, {&x.direction, &from.direction}, {&x.predicted, &from.predicted},
		{&x.misses, &from.misses}, {&x.missed, &from.missed}, {&x.run, &from.run}, {&x.slot, &from.slot}, {&x.turned, &from.turned},
		{&x.found, &from.found}, {&x.last, &from.last}, {&x.strand, &from.strand}, {&x.match, &from.match}, {&x.joint, &from.joint},
		{&x.set, &from.set},
	} {
		a[0][l] = a[1][l]
	}
	x.forward[l], x.reverse[l] = from.forward[l], from.reverse[l]
}
