package quals

import (
	"math/rand"
	"testing"
)

// TestWorthBasesOfUnequalLengths: the sample of a column whose reads differ in length has the lengths of its own reads.
func TestWorthBasesOfUnequalLengths(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	in := Input{Records: 200}
	n := 0
	for range in.Records {
		length := uint32(3000 + r.Intn(2000))
		in.Lengths.Each = append(in.Lengths.Each, length)
		n += int(length)
	}
	for range n {
		in.Quals, in.Bases = append(in.Quals, byte(33+r.Intn(40))), append(in.Bases, byte(r.Intn(4)))
	}
	if n <= sampleBytes {
		t.Fatal("the sample is all of the column")
	}
	if WorthBases(in) {
		t.Error("bases say something of random qualities")
	}
	if s := sample(&in, sampleBytes); len(s.Lengths.Each) != s.Records {
		t.Errorf("%d lengths of %d reads", len(s.Lengths.Each), s.Records)
	}
}
